// Hot loops over a vocabulary are compiled for wider registers too and picked when the program starts (the build
// itself targets every x86-64). Rounding is the same in all clones: lanes are explicit and products are not fused.
#pragma once

// Under ThreadSanitizer there is one: it is not ready yet when the program picks, and crashes.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define STEREOSWEEP_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STEREOSWEEP_VECTOR_CLONES
#endif
