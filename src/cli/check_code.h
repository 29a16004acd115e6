/* SPDX-License-Identifier: MIT
 *
 * What `check` does with code: every kernel is built for a target at its check parameters (or its image is read), and what the
 * manifest passes is compared with what the code object takes. No GPU.
 */
#ifndef ROOFTILE_CHECK_CODE_H
#define ROOFTILE_CHECK_CODE_H

#include "session.h"

/* For every target of --arch, else for the first that a compiler here knows. Prints what differs, adds it to *findings. */
enum status check_code(const struct session *session, size_t *findings, struct err *err);

#endif
