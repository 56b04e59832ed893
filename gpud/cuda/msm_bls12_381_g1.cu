#include "gpud/cuda/msm_points.cuh"

extern const struct msm_kernels msm_bls12_381_g1;
const struct msm_kernels msm_bls12_381_g1 = msm::kernels<fq_bls12_381>();
