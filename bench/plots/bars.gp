# Groups of bars; the data has the group's name, then median, min, max of each
# contender. The whiskers are the least and the most. plot_least is where a logarithmic
# axis begins; 0 asks for one that is not.
load folder . "/style.gp"
if (plot_least > 0) set logscale y
set format y "%g"
set yrange [plot_least:*]
set style data histograms
set style histogram errorbars gap 1.5 linewidth 1
set style fill solid 0.85 border lc "#000000"
if (plot_crowded) set xtics rotate by 20 right
set boxwidth 0.9 relative
plot for [i = 1:series] data using (column(3 * i - 1)):(column(3 * i)):(column(3 * i + 1)):xtic(1) \
	linetype i linewidth 1 dashtype 1 title word_title(i)
