# cmake -DPROGRAM=FILE -P RemoveRunPath.cmake: the program's own list of library folders, which are the build machine's.
file(RPATH_REMOVE FILE "${PROGRAM}")
