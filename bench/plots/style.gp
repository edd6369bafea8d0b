# What all plots share. Colours that the colour-blind tell apart, with different
# points and dashes for those who print without colours.
set terminal svg size 900,560 dynamic font "Helvetica,14" background "#ffffff"
set output output
set datafile separator "\t"
set datafile missing "?"
set title plot_title font ",17" noenhanced
set label 1 foot at screen 0.01, screen 0.05 font ",9" textcolor "#555555" noenhanced
set bmargin at screen 0.2
set xlabel plot_x noenhanced
set ylabel plot_y noenhanced
set grid ytics lc "#cccccc"
set border 3
set tics nomirror
set key outside right top vertical Left reverse samplen 3 noenhanced
set linetype 1 lc "#d55e00" lw 3 pt 7 dt 1
set linetype 2 lc "#0072b2" lw 2 pt 5 dt 2
set linetype 3 lc "#009e73" lw 2 pt 9 dt 4
set linetype 4 lc "#000000" lw 2 pt 4 dt 3
set linetype 5 lc "#cc79a7" lw 2 pt 11 dt 5
set linetype 6 lc "#e69f00" lw 2 pt 13 dt 2
set linetype 7 lc "#56b4e9" lw 2 pt 6 dt 4
set linetype 8 lc "#777777" lw 2 pt 8 dt 3
set linetype cycle 8
