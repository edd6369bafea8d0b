# Measured over asked rate, as points, on the line that theory draws; the data has
# the fill, then measured, least, most, expected of each p.
load folder . "/style.gp"
set logscale y
set format y "10^{%T}"
set ytics add ("1" 1, "0.1" 0.1, "10" 10)
set yrange [1e-4:2e4]
set xrange [0:2.1]
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc "#999999" dt 3
set arrow 2 from graph 0, first 1 to graph 1, first 1 nohead lc "#999999" dt 3
plot for [i = 1:series] data using 1:(column(4 * i + 1)) with lines linetype i linewidth 1.5 notitle, \
	for [i = 1:series] data using 1:(column(4 * i - 2)):(column(4 * i - 1)):(column(4 * i)) \
		with yerrorbars linetype i dashtype 1 pointsize 0.9 title word_title(i)
