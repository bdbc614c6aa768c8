# Reads a release with the package that people use for its format, and writes what R sees, one line a row.
arguments <- commandArgs(trailingOnly = TRUE)
path <- arguments[1]
table <- switch(tools::file_ext(path),
  csv = readr::read_csv(path, col_types = readr::cols(zip = "c"), show_col_types = FALSE),
  tsv = readr::read_tsv(path, col_types = readr::cols(zip = "c"), show_col_types = FALSE),
  sav = , zsav = haven::read_sav(path, user_na = TRUE),
  dta = haven::read_dta(path),
  xpt = , v8xpt = haven::read_xpt(path)
)
seen <- function(column) {
  letters <- if (is.double(column)) haven::na_tag(column) else rep(NA, length(column))
  labels <- attr(column, "labels", exact = TRUE)
  missing <- if (inherits(column, "haven_labelled")) is.na(column) & !is.na(haven::zap_labels(haven::zap_missing(column))) else FALSE
  plain <- if (inherits(column, c("Date", "POSIXct"))) format(column, if (inherits(column, "Date")) "%Y-%m-%d" else "%Y-%m-%d %H:%M:%S", tz = "UTC")
    else if (is.numeric(column)) format(as.numeric(unclass(column)), digits = 15, trim = TRUE, scientific = FALSE) else as.character(unclass(column))
  ifelse(!is.na(letters), paste0(".", letters), ifelse(is.na(plain) | plain == "NA", "", plain))
}
told <- as.data.frame(lapply(table, seen), check.names = FALSE)
write.table(told, arguments[2], sep = "\t", row.names = FALSE, quote = TRUE, qmethod = "double", fileEncoding = "UTF-8")
for (name in names(table)) {
  labels <- attr(table[[name]], "labels", exact = TRUE)
  missing <- c(attr(table[[name]], "na_values"), attr(table[[name]], "na_range"))
  cat(name, attr(table[[name]], "label", exact = TRUE), paste(names(labels), collapse = "|"), paste(missing, collapse = "|"), sep = "\t", fill = FALSE)
  cat("\n")
}
