#include "gpud/cuda/msm_points.cuh"

extern const struct msm_kernels msm_bn254_g1;
const struct msm_kernels msm_bn254_g1 = msm::kernels<fq_bn254>();
