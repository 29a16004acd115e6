/* SPDX-License-Identifier: MIT
 *
 * Machine files of a session. A gfx name is several products, and one card is several devices: an eighth of an MI300X
 * must not be judged by the ceilings of the whole.
 */
#ifndef ROOFTILE_SESSION_MACHINE_H
#define ROOFTILE_SESSION_MACHINE_H

#include "session.h"

/* The shipped machine files; none without a configs folder. */
enum status session_machine_files(char ***paths, size_t *count, struct arena *arena, struct err *err);

enum machine_match {
    MATCH_NO,    /* another product */
    MATCH_MODE,  /* the product in another partition mode */
    MATCH_UNITS, /* the id, with another number of compute units: another product of that id, or a part of the card */
    MATCH_YES
};
enum machine_match session_match(const struct machine *machine, const struct device_info *info);

/* The file in configs/machines that describes the session's device; none is no error. Warns when there is one for the
 * product that does not hold for this device. */
enum status session_machine_by_pci_id(struct session *session, struct err *err);

/* `sim:NAME`: reads the machine file configs/machines/NAME.json and gives the sim device its facts. */
enum status session_sim(struct session *session, struct err *err);

#endif
