#include "gpud/cuda/msm_points.cuh"

extern const struct msm_kernels msm_bls12_381_g2;
const struct msm_kernels msm_bls12_381_g2 = msm::kernels<fq2_bls12_381>();
