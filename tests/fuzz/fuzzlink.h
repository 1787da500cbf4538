/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for the fuzz targets of the link: a table of the numeric fields of
 * LinkConfig, and functions that run a link. These functions check all
 * conditions that link.h guarantees.
 */

#ifndef __FUZZLINK_H__
#define __FUZZLINK_H__

#include "fuzz.h"
#include "link.h"
#include "linkpattern.h"

/* --- the numbers of a LinkConfig ------------------------------------------ */

typedef enum
{
  FIELD_U64,                    /* times, rates, sizes */
  FIELD_UINT,
  FIELD_CHANCE,
  FIELD_FLAG
} FuzzFieldType;

typedef struct
{
  gsize offset;
  FuzzFieldType type;
} FuzzField;

extern const FuzzField fuzz_fields[];
extern const guint fuzz_n_fields;

/* Takes one byte from the input. Its low bits are a number from 0 to 15, and
 * its high bits are an exponent from 0 to 15. Returns the number multiplied by
 * 10 to the power of the exponent. */
guint64 fuzz_take_magnitude (FuzzInput * input);
void fuzz_set_field (LinkConfig * config, const FuzzField * field,
    guint64 number, gdouble chance);

/* --- a watched link ------------------------------------------------------- */

#define FUZZ_MAX_PACKETS 192
#define FUZZ_MAX_FLOWS 8
#define FUZZ_LARGEST 65535

typedef struct
{
  guint flow, station;
  guint64 index;
  guint32 size;
  guint64 arrival;
  guint outputs, fates, freed;
  /* Number of copies (duplicates) of the packet that were output, without the
   * packet itself. */
  guint copies;
  /* Description of the packet that the link returned together with the fate of
   * the packet. */
  LinkPacket end;
  guint damage_hash;
} FuzzPacket;

typedef struct
{
  Link *link;
  guint64 now;
  guint n_flows;
  guint stations[FUZZ_MAX_FLOWS];
  guint64 offered[FUZZ_MAX_FLOWS], ended[FUZZ_MAX_FLOWS];
  guint64 arrived_bytes[FUZZ_MAX_FLOWS];
  guint n_outputs, n_arrived, n_ended;  /* counts over all flows */
  LinkFlowStats stats[FUZZ_MAX_FLOWS];  /* last polled statistics */
  FuzzPacket packets[FUZZ_MAX_PACKETS];
  guint n_packets;
  guint64 last_departure, last_event;
  guint64 duplicates;
  VideoPacket video[FUZZ_MAX_FLOWS];    /* Last packet of each flow. */
  /* The link outputs the copies (duplicates) of a packet directly before the
   * packet itself. `copied` is the packet whose copies were output and which
   * must follow now, or NULL if there is no such packet. */
  FuzzPacket *copied;
  gdouble quality[LINK_MAX_STATIONS];
  LinkCall call;
  guint n_quality;
  /* Record of the fates of all packets in this run, in the format of a pattern
   * file. */
  GString *record;
} FuzzRun;

FuzzRun *fuzz_run_new (const LinkConfig * config, GError ** error);
void fuzz_run_add_flow (FuzzRun * run, guint station);
void fuzz_run_set_station (FuzzRun * run, guint flow, guint station);
/* Returns the number of packets that are neither delivered nor lost yet. */
guint fuzz_run_count_inside (const FuzzRun * run);
void fuzz_run_poll (FuzzRun * run);
void fuzz_run_advance (FuzzRun * run, guint64 now);
void fuzz_run_input (FuzzRun * run, guint64 now, guint flow, guint32 size);
/* Ends the run. The fate of each packet must have been reported exactly once.
 */
void fuzz_run_free (FuzzRun * run);

#endif /* __FUZZLINK_H__ */
