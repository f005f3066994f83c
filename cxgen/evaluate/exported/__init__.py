"""Files that `cxgen export` puts beside the data, as they are. They import nothing of cxgen: a harness runs them wherever they lie."""
