/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests rfc2250depay and mpegstat with floods of forged RTP packets, in virtual
 * time. The real stream has 25 frames per second, and the attacker sends 10,000
 * packets per second. An off-path attacker knows neither the SSRC nor the
 * sequence numbers of the stream. A comparison with a run without the attacker
 * shows the cost of the attack. With RTPFLOOD_TABLE=1 the test prints a line
 * for each run; docs/security.md has a summary.
 */

#include <gst/check/gstcheck.h>

#include <gst/rtp/gstrtpbuffer.h>
#include <string.h>

#include "packetbuilder.h"
#include "mpegvideotimeline.h"

#define GOP "| I2 B0 B1 P5 B3 B4 P8 B6 B7 "
#define FRAMES_IN_GOP 9
#define N_GOPS 14
#define N_FRAMES (N_GOPS * FRAMES_IN_GOP)
#define FRAME_TIME (40 * GST_MSECOND)
#define FORGED_INTERVAL (100 * GST_USECOND)
#define LEGITIMATE_SSRC 0x5eed5eed
#define RESTARTED_SSRC 0x0ddba11
#define BEGIN GST_SECOND        /* start of the stream */
#define END (BEGIN + N_FRAMES * FRAME_TIME)
/* Number of the frame at which something happens to the stream. If the
 * situation is RESTART, it is the first frame after the sender has restarted.
 * If it is OUTAGE or LONG_OUTAGE, it is the first frame that does not arrive.
 */
#define RESTART_FRAME (5 * FRAMES_IN_GOP)
/* Time in ns that the sender's new process needs to start. The restart delays
 * all later frames of the stream by this time. */
#define RESTART_TIME (300 * GST_MSECOND)

typedef struct
{
  guint32 state;                /* state of the random numbers */
  guint32 n;                    /* packets so far */
  /* last sequence number of the real stream */
  guint16 near;
} Attacker;

/* Values from which the next forged packet is made */
typedef struct
{
  guint32 ssrc, timestamp;
  guint16 seqnum;
  guint8 payload_type;
  gsize size;                   /* of the whole packet */
  gboolean is_video;            /* The payload resembles a frame. */
} ForgedPacket;

typedef struct
{
  const gchar *name;
  void (*build) (Attacker * self, ForgedPacket * forged);
  /* TRUE if the sequence numbers of the forged packets are consecutive, as in a
   * real stream */
  gboolean has_runs;
  gboolean knows_ssrc;
} Attack;

static guint32
draw (Attacker * self)
{
  self->state ^= self->state << 13;
  self->state ^= self->state >> 17;
  self->state ^= self->state << 5;
  return self->state;
}

/* --- an off-path attacker ------------------------------------------------- */

static void
build_random_numbers (Attacker * self, ForgedPacket * forged)
{
  forged->ssrc = draw (self);
  forged->seqnum = draw (self);
}

static void
build_near_numbers (Attacker * self, ForgedPacket * forged)
{
  forged->ssrc = draw (self);
  forged->seqnum = self->near + draw (self) % 8;
}

static void
build_one_stream (Attacker * self, ForgedPacket * forged)
{
  forged->seqnum = self->n;
}

/* The attacker uses each SSRC for only two packets, which have consecutive
 * sequence numbers. */
static void
build_two_of_each_source (Attacker * self, ForgedPacket * forged)
{
  forged->ssrc = 0xa0000000 + self->n / 2;
  forged->seqnum = self->n;
}

static void
build_eight_streams (Attacker * self, ForgedPacket * forged)
{
  forged->ssrc += self->n % 8;
  forged->seqnum = self->n / 8;
}

/* The attacker sends as one source, and changes its SSRC once per second. */
static void
build_streams_in_turn (Attacker * self, ForgedPacket * forged)
{
  forged->ssrc += self->n / 10000;
  forged->seqnum = self->n;
}

static void
build_timestamps (Attacker * self, ForgedPacket * forged)
{
  forged->seqnum = self->n;
  forged->timestamp = draw (self);
}

static void
build_truncated (Attacker * self, ForgedPacket * forged)
{
  forged->seqnum = self->n;
  forged->size = 1 + draw (self) % 40;
}

static void
build_payload (Attacker * self, ForgedPacket * forged)
{
  forged->seqnum = self->n;
  forged->is_video = FALSE;
}

static void
build_payload_type (Attacker * self, ForgedPacket * forged)
{
  forged->seqnum = self->n;
  forged->payload_type = 96;
}

static void
build_keep_alives (Attacker * self, ForgedPacket * forged)
{
  forged->seqnum = self->near + draw (self) % 8;
  forged->size = 12;
}

/* --- an attacker who knows the SSRC --------------------------------------- */

static void
build_ssrc (Attacker * self, ForgedPacket * forged)
{
  forged->ssrc = LEGITIMATE_SSRC;
  forged->seqnum = draw (self);
}

static void
build_ssrc_and_near_numbers (Attacker * self, ForgedPacket * forged)
{
  forged->ssrc = LEGITIMATE_SSRC;
  forged->seqnum = self->near + draw (self) % 8;
}

static void
build_ssrc_and_timestamps (Attacker * self, ForgedPacket * forged)
{
  build_ssrc (self, forged);
  forged->timestamp = draw (self);
}

static const Attack attacks[] = {
  {"none", NULL},
  {"random SSRC and number", build_random_numbers},
  {"random SSRC, near number", build_near_numbers},
  {"one SSRC, consecutive", build_one_stream, TRUE},
  {"pairs of consecutive", build_two_of_each_source, TRUE},
  {"eight SSRCs, consecutive", build_eight_streams, TRUE},
  {"one SSRC per second", build_streams_in_turn, TRUE},
  {"random timestamps", build_timestamps, TRUE},
  {"truncated", build_truncated, TRUE},
  {"random payload", build_payload, TRUE},
  {"other payload type", build_payload_type},
  {"keep-alives", build_keep_alives},
  {"known SSRC, random number", build_ssrc, FALSE, TRUE},
  {"known SSRC, near number", build_ssrc_and_near_numbers, FALSE, TRUE},
  {"known SSRC, timestamps", build_ssrc_and_timestamps, FALSE, TRUE},
};

/* --- situations ----------------------------------------------------------- */

typedef enum
{
  /* The attack begins when the real stream has already begun. */
  STEADY,
  /* The real stream is interrupted: for about 0.5 s (OUTAGE) or 2 s
   * (LONG_OUTAGE), none of its packets arrives. */
  OUTAGE,
  LONG_OUTAGE,
  RESTART,                      /* The sender restarts with another SSRC. */
  /* The attack begins before the real stream does. */
  FIRST,
  N_SITUATIONS
} Situation;

static const gchar *const situation_names[] = {
  "steady", "outage of 0.5 s", "outage of 2 s", "restart", "attacker first"
};

static gboolean
is_in_outage (Situation situation, guint frame)
{
  const guint length = situation == OUTAGE ? 13 : situation == LONG_OUTAGE ?
      50 : 0;

  return frame >= RESTART_FRAME && frame < RESTART_FRAME + length;
}

static GstClockTime
get_arrival (Situation situation, guint frame)
{
  return BEGIN + frame * FRAME_TIME
      + (situation == RESTART && frame >= RESTART_FRAME ? RESTART_TIME : 0);
}

/* Returns the number of the frame of the real stream that arrived at the time
 * `pts`. (The attacker's forged packets do not count.) The buffer of a frame
 * has the arrival time of its packet as its PTS. */
static guint
get_frame (Situation situation, GstClockTime pts)
{
  GstClockTime time = pts - MIN (pts, BEGIN);

  if (situation == RESTART && time >= RESTART_FRAME * FRAME_TIME + RESTART_TIME)
    time -= RESTART_TIME;
  return time / FRAME_TIME;
}

/* --- the run -------------------------------------------------------------- */

typedef struct
{
  guint frames;                 /* unchanged frames of the stream */
  /* number of frames in the output that are not equal to a frame of the real
   * stream */
  guint forged;
  guint losses;                 /* messages of mpegstat */
  guint64 packets;              /* of the attacker */
  guint64 strays, ssrc_changes;
} Outcome;

typedef struct
{
  GstHarness *h;
  GstBus *bus;
  GPtrArray *frames;            /* as sent */
  /* Packets of the real stream. packets[0] has the SSRC that the sender uses at
   * first, and packets[1] has the SSRC that it uses after a restart. Each
   * packet contains one frame. */
  GPtrArray *packets[2];
  GstBuffer *video;             /* a forged payload */
  Attacker attacker;
  GstClockTime now;
  Outcome outcome;
} Fixture;

static gchar *
make_plan (void)
{
  GString *plan = g_string_new ("|c I0 P3 B1 B2 P6 B4 B5 P8 B7 ");
  guint i;

  for (i = 1; i < N_GOPS; i++)
    g_string_append (plan, GOP);
  return g_string_free (plan, FALSE);
}

static GPtrArray *
pack (const gchar * plan, guint32 ssrc, guint seqnum)
{
  gchar *launch = g_strdup_printf ("rfc2250pay ssrc=%u seqnum-offset=%u", ssrc,
      seqnum);
  GPtrArray *packets = mpeg_make_packets (plan, launch);

  fail_unless_equals_int (packets->len, N_FRAMES);
  g_free (launch);
  return packets;
}

static void
fixture_init (Fixture * fixture)
{
  gchar *plan = make_plan ();
  GstElement *mpegstat;

  memset (fixture, 0, sizeof (*fixture));
  fixture->attacker.state = 1;
  fixture->frames = mpeg_make_frames (plan, FALSE);
  fixture->packets[0] = pack (plan, LEGITIMATE_SSRC, 30000);
  fixture->packets[1] = pack (plan, RESTARTED_SSRC, 50000);
  fixture->video = gst_buffer_copy_region (fixture->packets[0]->pdata[0],
      GST_BUFFER_COPY_MEMORY, 12, -1);
  fixture->h = gst_harness_new_parse ("rfc2250depay ! mpegstat silent=true "
      "post-messages=true");
  gst_harness_set_src_caps_str (fixture->h, RTP_CAPS);
  fixture->bus = gst_bus_new ();
  mpegstat = gst_harness_find_element (fixture->h, "mpegstat");
  gst_element_set_bus (mpegstat, fixture->bus);
  gst_object_unref (mpegstat);
  g_free (plan);
}

static void
fixture_clear (Fixture * fixture)
{
  GstElement *mpegstat = gst_harness_find_element (fixture->h, "mpegstat");

  gst_element_set_bus (mpegstat, NULL);
  gst_object_unref (mpegstat);
  gst_object_unref (fixture->bus);
  gst_harness_teardown (fixture->h);
  gst_buffer_unref (fixture->video);
  g_ptr_array_unref (fixture->frames);
  g_ptr_array_unref (fixture->packets[0]);
  g_ptr_array_unref (fixture->packets[1]);
}

static gboolean
is_frame (Fixture * fixture, guint i, GstBuffer * buffer)
{
  GstMapInfo map;
  gboolean is;

  if (i >= N_FRAMES)
    return FALSE;
  gst_buffer_map (fixture->frames->pdata[i], &map, GST_MAP_READ);
  is = gst_buffer_get_size (buffer) == map.size
      && gst_buffer_memcmp (buffer, 0, map.data, map.size) == 0;
  gst_buffer_unmap (fixture->frames->pdata[i], &map);
  return is;
}

static void
take_frames (Fixture * fixture, Situation situation)
{
  GstMessage *message;
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (fixture->h))) {
    if (is_frame (fixture, get_frame (situation, GST_BUFFER_PTS (buffer)),
            buffer))
      fixture->outcome.frames++;
    else
      fixture->outcome.forged++;
    gst_buffer_unref (buffer);
  }
  while ((message = gst_bus_pop (fixture->bus))) {
    const GstStructure *structure = gst_message_get_structure (message);

    fixture->outcome.losses += structure
        && gst_structure_has_name (structure, "application/x-mpegstat-lost");
    gst_message_unref (message);
  }
}

static void
push (Fixture * fixture, GstBuffer * buffer)
{
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = fixture->now;
  fail_unless_equals_int (gst_harness_push (fixture->h, buffer), GST_FLOW_OK);
}

static void
push_forged (Fixture * fixture, const Attack * attack)
{
  Attacker *attacker = &fixture->attacker;
  const gsize video_size = gst_buffer_get_size (fixture->video);
  ForgedPacket forged = {
    .ssrc = 0xbad0000,
    .timestamp = attacker->n * 9,
    .payload_type = 32,
    .size = 12 + video_size,
    .is_video = TRUE
  };
  guint8 bytes[12 + 256];
  gsize i;

  g_assert_cmpuint (forged.size, <=, sizeof (bytes));
  attack->build (attacker, &forged);
  bytes[0] = 0x80;
  bytes[1] = 0x80 | forged.payload_type;
  GST_WRITE_UINT16_BE (bytes + 2, forged.seqnum);
  GST_WRITE_UINT32_BE (bytes + 4, forged.timestamp);
  GST_WRITE_UINT32_BE (bytes + 8, forged.ssrc);
  gst_buffer_extract (fixture->video, 0, bytes + 12, video_size);
  bytes[12 + video_size - 1] ^= 1;
  /* Only the bytes after the header of RFC 2250 are random. If this header were
   * invalid, rfc2250depay would discard the packet at once, without reading the
   * bytes after it. */
  for (i = 16; i < forged.size && !forged.is_video; i++)
    bytes[i] = draw (attacker);
  push (fixture, mpeg_wrap (bytes, forged.size));
  attacker->n++;
}

static void
push_frame (Fixture * fixture, Situation situation, guint frame)
{
  const guint which = situation == RESTART && frame >= RESTART_FRAME;
  GstBuffer *packet = gst_buffer_copy (fixture->packets[which]->pdata[frame]);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp);
  fixture->attacker.near = gst_rtp_buffer_get_seq (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  if (is_in_outage (situation, frame))
    gst_buffer_unref (packet);
  else
    push (fixture, packet);
}

static void
run (const Attack * attack, Situation situation, Outcome * outcome)
{
  guint frame = 0;
  Fixture fixture;

  fixture_init (&fixture);
  fixture.now = situation == FIRST ? BEGIN / 2 : BEGIN;
  for (; fixture.now < END + GST_SECOND; fixture.now += FORGED_INTERVAL) {
    for (; frame < N_FRAMES && get_arrival (situation, frame) <= fixture.now;
        frame++)
      push_frame (&fixture, situation, frame);
    if (attack->build && fixture.now < END
        && (situation == FIRST || fixture.now >= BEGIN + FRAME_TIME))
      push_forged (&fixture, attack);
    take_frames (&fixture, situation);
  }
  gst_harness_push_event (fixture.h, gst_event_new_eos ());
  take_frames (&fixture, situation);
  fixture.outcome.packets = fixture.attacker.n;
  fixture.outcome.strays = mpeg_get_stat (fixture.h, "rfc2250depay", "strays");
  fixture.outcome.ssrc_changes = mpeg_get_stat (fixture.h, "rfc2250depay",
      "ssrc-changes");
  *outcome = fixture.outcome;
  fixture_clear (&fixture);
}

/* --- the tests ------------------------------------------------------------ */

static void
print (const Attack * attack, Situation situation, const Outcome * without,
    const Outcome * with)
{
  if (!g_getenv ("RTPFLOOD_TABLE"))
    return;
  g_print ("%-26s %-16s frames %3u of %3u, forged %6u, lost lines %5u, "
      "strays %6" G_GUINT64_FORMAT ", SSRC changes %5" G_GUINT64_FORMAT "\n",
      attack->name, situation_names[situation], with->frames, without->frames,
      with->forged, with->losses, with->strays, with->ssrc_changes);
}

GST_START_TEST (off_path_flood_costs_nothing)
{
  const Attack *attack = &attacks[__i__ / N_SITUATIONS];
  const Situation situation = __i__ % N_SITUATIONS;
  Outcome without, with;

  run (&attacks[0], situation, &without);
  run (attack, situation, &with);
  print (attack, situation, &without, &with);
  /* Each forged frame that gets through can make mpegstat report losses.
   * mpegstat reports up to MPEG_VIDEO_MAX_SINGLE_LOSSES losses one by one. It
   * reports more losses together, as one range. The number of reports is
   * therefore limited. */
  fail_unless (with.losses <= without.losses
      + (with.forged + 1) * MPEG_VIDEO_MAX_SINGLE_LOSSES);
  /* In two cases, the elements give no protection (docs/security.md). In the
   * first case, the attacker knows the SSRC. In the second case, the forged
   * packets have consecutive sequence numbers, and they arrive before the real
   * stream begins or while the sender restarts. */
  if (attack->knows_ssrc || (attack->has_runs && situation >= RESTART))
    return;
  /* In all other cases, less than 1 % of the frames may be lost because of the
   * attack. */
  fail_unless (with.frames * 100 + N_FRAMES > without.frames * 100,
      "%s, %s: %u of %u frames", attack->name, situation_names[situation],
      with.frames, without.frames);
}

GST_END_TEST;

static Suite *
rtpflood_suite (void)
{
  Suite *suite = suite_create ("rtpflood");
  TCase *floods = tcase_create ("floods");

  suite_add_tcase (suite, floods);
  tcase_add_loop_test (floods, off_path_flood_costs_nothing, 0,
      G_N_ELEMENTS (attacks) * N_SITUATIONS);
  return suite;
}

GST_CHECK_MAIN (rtpflood);
