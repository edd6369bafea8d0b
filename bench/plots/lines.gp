# One line for each contender; the data has x, then median, min, max of each. The y axis
# is logarithmic unless plot_linear is 1; then it begins at 0.
load folder . "/style.gp"
set logscale x
if (!plot_linear) set logscale y
if (plot_linear) set yrange [0:*]
if (plot_powers) set format x "%.0s%c"
if (!plot_powers) set xtics (1, 2, 4, 8, 16)
set format y "%.0s%c"
set xrange [plot_from:plot_to]
plot for [i = 1:series] data using 1:(column(3 * i)):(0):(column(3 * i + 1) - column(3 * i)) \
		with vectors nohead linetype i dashtype 1 linewidth 1 notitle, \
	for [i = 1:series] data using 1:(column(3 * i - 1)) with linespoints linetype i \
		title word_title(i)
