/* Which process, and which boot of the machine: what a shared object must know to outlive both.
 * Any thread. */
#ifndef PINION_SHM_PROCESS_H
#define PINION_SHM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/status.h"
#include "shm/layout.h"

/* Field 22 of /proc/PID/stat: clock ticks from the boot to the start of the process. With its pid
 * it names a process of this boot for ever. ST_RESOURCE when there is no such process or /proc
 * does not tell. */
enum status process_start_time(uint64_t *out, pid_t pid) MUST_CHECK;

/* Whether that very process may still run one of its threads. False is certain: it has ended, a
 * zombie included, or pid means another process by now. True where the system does not tell. */
bool process_is_alive(pid_t pid, uint64_t start_time);

/* The id that the kernel draws at each boot. ST_RESOURCE when /proc does not tell. */
enum status process_boot_id(uint8_t out[BOOT_ID_BYTES]) MUST_CHECK;

/* CLOCK_MONOTONIC in nanoseconds: comparable between the processes of one boot. */
uint64_t process_monotonic_ns(void);

/* A random word that is not 0, for incarnations and instances. ST_RESOURCE. */
enum status process_random(uint64_t *out) MUST_CHECK;

#endif
