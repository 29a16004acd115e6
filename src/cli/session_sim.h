/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_SESSION_SIM_H
#define ROOFTILE_SESSION_SIM_H

#include "session.h"

/* `sim:NAME`: reads the machine file configs/machines/NAME.json and gives the sim device its facts. */
enum status session_sim(struct session *session, struct err *err);

#endif
