#include "gpud/cuda/msm_points.cuh"

extern const struct msm_kernels msm_bn254_g2;
const struct msm_kernels msm_bn254_g2 = msm::kernels<fq2_bn254>();
