"""The main tables of four papers, laid out as theirs, with the numbers of a result."""
