/* Inside the loader. For conf/ only. */
#ifndef PINION_CONF_CONF_PRIVATE_H
#define PINION_CONF_CONF_PRIVATE_H

#include "conf/conf.h"

/* Looks through text for what libconfig does without being asked: it includes other files, recurses
 * for every open bracket, and (1.5) cuts integers to 32 bits without a word. */
enum status conf_text_check(const char *name, const char *text) MUST_CHECK;

#endif
