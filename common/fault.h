/* Fault points: steps at which a test makes a process die, or an operation fail. Builds without
 * PINION_FAULTS have none: the macros are constants.
 *
 * The environment says what happens, in every process that has it:
 *   PINION_FAULT=NAME:N:kill   SIGKILL to itself the Nth time it passes NAME; N 0: each time
 *   PINION_FAULT=NAME:N:fail   the operation fails there
 *   PINION_FAULT_ONCE=FILE     only the process that removes FILE, so one of all and once
 *   PINION_FAULT_TRACE=FILE    every point that is passed is appended, one name a line */
#ifndef PINION_FAULT_H
#define PINION_FAULT_H

#include <stdbool.h>

#if PINION_FAULTS
/* True if the operation is to fail. name is static. Any thread. */
bool fault_point(const char *name);
#define FAULT_FAILS(name) fault_point(name)
#define FAULT_POINT(name) ((void)fault_point(name))
#else
#define FAULT_FAILS(name) false
#define FAULT_POINT(name) ((void)0)
#endif

#endif
