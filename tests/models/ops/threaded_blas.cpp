// For LD_PRELOAD: a BLAS whose sums depend on the number of threads that it may use, as those of some
// libraries do on some processors. A product of a batch, which LibTorch would compute on its own, ends the
// program.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern "C" {
int MKL_Get_Max_Threads();

using Gemm = void(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                  const int*, const float*, const int*, const float*, float*, const int*);

// One sum of `k` terms becomes one sum for each thread.
void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc) {
  static Gemm* const gemm = reinterpret_cast<Gemm*>(dlsym(RTLD_NEXT, "sgemm_"));
  const int parts = std::clamp(MKL_Get_Max_Threads(), 1, std::max(1, *k));
  const float one = 1;
  for (int part = 0; part < parts; ++part) {
    const int first = *k * part / parts;
    const int terms = *k * (part + 1) / parts - first;
    gemm(ta, tb, m, n, &terms, alpha, a + (*ta == 'N' ? first * *lda : first), lda,
         b + (*tb == 'N' ? first : first * *ldb), ldb, part == 0 ? beta : &one, c, ldc);
  }
}

void cblas_sgemm_batch() {
  std::fputs("a product of matrices that che::product does not compute\n", stderr);
  std::abort();
}
void sgemv_() { cblas_sgemm_batch(); }
}
