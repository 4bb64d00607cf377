// cuBLAS beside NullGpu.cpp: products are counted and not computed. Arguments that nothing here reads are left out,
// which the calling convention of C allows.
#include <cstdint>

#include "support/NullGpu.hpp"

namespace {

constexpr int success = 0;

int product() {
  stereosweep::testing::count_on_null_gpu("product");
  return success;
}

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
  static int made = 0;
  *handle = &made;
  return success;
}
int cublasDestroy_v2(void*) { return success; }
int cublasSetStream_v2(void*, void*) { return success; }
int cublasSetWorkspace_v2(void*, void*, std::size_t) { return success; }
int cublasSetMathMode(void*, int) { return success; }
int cublasSetPointerMode_v2(void*, int) { return success; }

int cublasGetMathMode(void*, int* mode) {
  *mode = 0;
  return success;
}

int cublasGetPointerMode_v2(void*, int* mode) {
  *mode = 0;
  return success;
}

int cublasGemmEx(...) { return product(); }
int cublasGemmStridedBatchedEx(...) { return product(); }
int cublasSgemmEx(...) { return product(); }
int cublasSgemm_v2(...) { return product(); }
int cublasDgemm_v2(...) { return product(); }
int cublasSgemmStridedBatched(...) { return product(); }
int cublasDgemmStridedBatched(...) { return product(); }
int cublasSgemv_v2(...) { return product(); }
int cublasDgemv_v2(...) { return product(); }
int cublasLtMatmul(...) { return product(); }

int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*, int* found) {
  *found = 1;
  return success;
}

}  // extern "C"
