#include "gpud/cuda/device.cuh"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "gpud/cuda/field.cuh"

static std::atomic<bool> lost{false};

/* What is allocated, by address: cudaFree does not tell sizes. */
static std::mutex blocks_lock;
static std::unordered_map<void *, size_t> blocks;
static uint64_t blocks_bytes;

bool device_lost(void)
{
    return lost.load(std::memory_order_relaxed);
}

static bool is_resource(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation || e == cudaErrorNoDevice ||
           e == cudaErrorInsufficientDriver || e == cudaErrorInvalidDevice ||
           e == cudaErrorSystemDriverMismatch || e == cudaErrorDevicesUnavailable ||
           e == cudaErrorNoKernelImageForDevice || e == cudaErrorHostMemoryAlreadyRegistered;
}

enum status device_failed(cudaError_t error, const char *call, const char *file, int line)
{
    (void)cudaGetLastError(); /* forgets an error that is not sticky */
    if (!is_resource(error) && cudaDeviceSynchronize() != cudaSuccess)
        lost.store(true, std::memory_order_relaxed);
    const char *base = std::strrchr(file, '/');
    return fail(is_resource(error) ? ST_RESOURCE : ST_INTERNAL, "cuda: %s (%s:%d): %s%s", call,
                base ? base + 1 : file, line, cudaGetErrorString(error),
                device_lost() ? "; the device is lost to this process" : "");
}

/* (2 + 3)^2 / 5 in the field, by every kind of instruction that a product uses. */
static __global__ void self_test(fr_bls12_381 *out)
{
    fr_bls12_381 two, three, five;
    set_one(two);
    three = add(dbl(two), two);
    two = dbl(two);
    five = add(two, three);
    *out = mul(sqr(five), inv(five));
}

static enum status run_self_test(const struct device *d)
{
    fr_bls12_381 *out, got, five;
    CUDA_TRY(cudaMalloc(&out, sizeof *out));
    self_test<<<1, 1>>>(out);
    cudaError_t launched = cudaGetLastError();
    cudaError_t copied = cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaError_t freed = cudaFree(out);
    CUDA_TRY(launched);
    CUDA_TRY(copied);
    CUDA_TRY(freed);
    set_one(five);
    five = add(dbl(dbl(five)), five);
    if (!equal(got, five))
        return fail(ST_INTERNAL, "cuda: device %d (%s) computes wrongly", d->index, d->name);
    return ST_OK;
}

int device_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess)
        return count;
    (void)cudaGetLastError();
    return 0;
}

enum status device_open(struct device *out, int index)
{
    int count = 0;
    CUDA_TRY(cudaGetDeviceCount(&count));
    if (index < 0 || index >= count)
        return fail(ST_RESOURCE, "cuda: no device %d: there are %d", index, count);
    struct cudaDeviceProp p;
    CUDA_TRY(cudaGetDeviceProperties(&p, index));
    CUDA_TRY(cudaSetDevice(index));
    struct device d = {};
    d.index = index;
    std::snprintf(d.name, sizeof d.name, "%.*s", DEVICE_NAME_BYTES - 1, p.name);
    d.processors = (unsigned)p.multiProcessorCount;
    d.memory = p.totalGlobalMem;
    d.l2_bytes = (uint64_t)p.l2CacheSize;
    enum status st = run_self_test(&d);
    if (st == ST_OK)
        *out = d;
    return st;
}

enum status device_use(int index)
{
    CUDA_TRY(cudaSetDevice(index));
    return ST_OK;
}

enum status device_free_memory(uint64_t *out)
{
    size_t unused = 0, total = 0;
    CUDA_TRY(cudaMemGetInfo(&unused, &total));
    *out = unused;
    return ST_OK;
}

enum status device_alloc(void **out, size_t bytes, const char *what)
{
    void *block = NULL;
    if (bytes > 0) {
        cudaError_t e = cudaMalloc(&block, bytes);
        if (e == cudaErrorMemoryAllocation) {
            (void)cudaGetLastError();
            return fail(ST_RESOURCE, "cuda: no device memory for %s: %zu MiB are needed", what,
                        (bytes >> 20) + 1);
        }
        CUDA_TRY(e);
#ifndef NDEBUG
        CUDA_TRY(cudaMemset(block, 0xa5, bytes));
#endif
        std::lock_guard<std::mutex> guard(blocks_lock);
        blocks[block] = bytes;
        blocks_bytes += bytes;
    }
    *out = block;
    return ST_OK;
}

void device_free(void *block)
{
    if (!block)
        return;
    {
        std::lock_guard<std::mutex> guard(blocks_lock);
        auto found = blocks.find(block);
        CHECK(found != blocks.end());
        blocks_bytes -= found->second;
        blocks.erase(found);
    }
    (void)cudaFree(block); /* fails only where an earlier call has failed for good */
}

enum status device_host_alloc(void **out, size_t bytes, const char *what)
{
    void *block = NULL;
    if (bytes > 0) {
        cudaError_t e = cudaMallocHost(&block, bytes);
        if (e == cudaErrorMemoryAllocation) {
            (void)cudaGetLastError();
            return fail(ST_RESOURCE, "cuda: no pinned memory for %s: %zu MiB are needed", what,
                        (bytes >> 20) + 1);
        }
        CUDA_TRY(e);
    }
    *out = block;
    return ST_OK;
}

void device_host_free(void *block)
{
    (void)cudaFreeHost(block);
}

uint64_t device_allocated(void)
{
    std::lock_guard<std::mutex> guard(blocks_lock);
    return blocks_bytes;
}
