/* SPDX-License-Identifier: MIT
 *
 * Which shipped machine file describes a device: by PCI id and partition mode. A gfx name is several products, and one
 * card is several devices: an eighth of an MI300X must not be judged by the roofs of the whole.
 */
#ifndef ROOFTILE_SESSION_MATCH_H
#define ROOFTILE_SESSION_MATCH_H

#include "session.h"

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

#endif
