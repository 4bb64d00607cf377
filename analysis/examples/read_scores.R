# Each subject's mean score of one measure and item, over templates, rephrasings and replicates, from R.
#   Rscript analysis/examples/read_scores.R results/planted/association.stats.h5 "ilps_star prior_word" "cold - warm"
# Debian: apt-get install --no-install-recommends r-cran-ncdf4. Elsewhere: install.packages("ncdf4").
library(ncdf4)
arguments <- commandArgs(trailingOnly = TRUE)
file <- nc_open(arguments[1])
score <- ncvar_get(file, "score", collapse_degen = FALSE)   # R turns the axes round: the file's first is here the last
axes <- sapply(file$var$score$dim, function(axis) axis$name)
dimnames(score) <- setNames(lapply(axes, function(axis) as.character(ncvar_get(file, axis))), axes)
wanted <- score[arguments[3], , , , , arguments[2], drop = FALSE]
means <- apply(wanted, which(axes == "subject"), mean, na.rm = TRUE)   # NaN: score_status says why
cat(sprintf("%s\t%.17g\n", names(means), means), sep = "")
nc_close(file)
