/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the algorithms in figures 1.1 to 1.3 of Ouwens (2006). There are
 * cases for each line of the figures. Some decisions in the figures are wrong,
 * and the tests expect these wrong decisions, too. As in the figures, W is the
 * queue of waiting frames, S holds the frame that is being sent, and C holds
 * the new frame. The last test compares the algorithms with a second
 * implementation, which was written for this test directly from the paper.
 */

#include "ifdcases.h"
#include "seededdraw.h"

static const IfdConfig paper = { IFD_ALGORITHM_PAPER, 1 };
static const IfdConfig paper_gop = { IFD_ALGORITHM_PAPER_GOP, 1 };

/* Cases for the lines of figure 1.1 in the paper by Ouwens. A part of figure
 * 1.3 is identical to figure 1.1, so these cases are valid for that part, too.
 * The last frame of each input is the new frame C. */
static const IfdCase figure_1_1_cases[] = {
  {"if (W is empty) store: I", "I", "+I0"},
  {"if (W is empty) store: P", "P", "+P0"},
  {"if (W is empty) store: B", "B", "+B0"},
  {"if (W is empty) store, while S is sent", "I / B", "+I0 >I0 +B1"},
  {"C holds an I-frame: overwrite an I", "I I", "+I0 -I0:overwritten +I1"},
  {"C holds an I-frame: overwrite a P", "P I", "+P0 -P0:overwritten +I1"},
  {"C holds an I-frame: overwrite a B", "B I", "+B0 -B0:overwritten +I1"},
  {"C holds a B-frame: discard, W an I", "I B", "+I0 -B1:no-room"},
  {"C holds a B-frame: discard, W a P", "P B", "+P0 -B1:no-room"},
  {"C holds a B-frame: discard, W a B", "B B", "+B0 -B1:no-room"},
  {"C holds a P-frame, W an I: discard", "I P", "+I0 -P1:no-room"},
  {"C holds a P-frame, W a P: discard", "P P", "+P0 -P1:no-room"},
  {"C holds a P-frame, else: overwrite", "B P", "+B0 -B0:overwritten +P1"},
};

GST_START_TEST (figure_1_1_line_by_line)
{
  IFD_EXPECT_ALL (&paper, figure_1_1_cases);
}

GST_END_TEST;

/* The algorithm of figure 1.1 in the paper by Ouwens decides only by frame
 * types. It therefore also sends frames that cannot be decoded because they
 * refer to a dropped frame. The implementation must do the same. */
GST_START_TEST (figure_1_1_goes_on_in_a_disturbed_gop)
{
  const IfdCase cases[] = {
    {"P behind a lost P", "I P / P", "+I0 -P1:no-room >I0 +P2"},
    {"B behind a lost P", "I P / B", "+I0 -P1:no-room >I0 +B2"},
    {"leading B behind a lost P", "I P / I / B",
        "+I0 -P1:no-room >I0 +I2 >I2 +B3"},
    {"flags mean nothing", "Ix / Bl", "+I0 >I0 +B1"},
  };

  IFD_EXPECT_ALL (&paper, cases);
}

GST_END_TEST;

/* The algorithms of figures 1.2 and 1.3 in the paper by Ouwens remember whether
 * a P-frame of the present or of the previous GOP was dropped. As long as no
 * P-frame of these two GOPs was dropped, these algorithms must decide in the
 * same way as the algorithm of figure 1.1. */
GST_START_TEST (figure_1_3_performs_ifd_normally)
{
  IFD_EXPECT_ALL (&paper_gop, figure_1_1_cases);
}

GST_END_TEST;

/* Figures 1.2 and 1.3 in the paper by Ouwens are pseudocode. Each of the
 * following cases tests one line of it. The pseudocode has two variables:
 * GOP_disturbed says that a P-frame of the present GOP was dropped.
 * prev_GOP_disturbed says that a P-frame of the previous GOP was dropped. The
 * next P-frame that arrives resets it, even if this P-frame is not dropped.
 *
 * Each case has three texts: the name of the tested line, the input, and the
 * expected decisions. In the input, a letter means that a frame of this type
 * arrives. "/" means that the waiting frame leaves the queue W and is sent. W
 * has room for one frame.
 *
 * Each input first puts the algorithm into a certain state. An example is the
 * input "I P / I /". The first I-frame waits in W. The P-frame then has no
 * room, so it is dropped, and GOP_disturbed is set. The first I-frame leaves W.
 * The second I-frame begins a new GOP, so prev_GOP_disturbed is set and
 * GOP_disturbed is reset. The second I-frame then leaves W, and W is empty.
 *
 * The two variables are never set at the same time. An I-frame that sets
 * prev_GOP_disturbed also resets GOP_disturbed. When a P-frame is dropped and
 * sets GOP_disturbed, prev_GOP_disturbed is reset, too. */
static const IfdCase figure_1_2_cases[] = {
  {"W an I: discard (C), GOP_disturbed = true", "I P / P",
      "+I0 -P1:no-room >I0 -P2:disturbed"},
  {"W a P: discard (C), GOP_disturbed = true", "I / P P / P",
      "+I0 >I0 +P1 -P2:no-room >P1 -P3:disturbed"},
  {"W a B: overwrite, not disturbed", "I / B P / P",
      "+I0 >I0 +B1 -B1:overwritten +P2 >P2 +P3"},
  {"a discarded B disturbs nothing", "I B / P",
      "+I0 -B1:no-room >I0 +P2"},
  {"C an I: prev_GOP_disturbed = true", "I P / I / B",
      "+I0 -P1:no-room >I0 +I2 >I2 -B3:leading"},
  {"C an I: GOP_disturbed = false", "I P / I / P",
      "+I0 -P1:no-room >I0 +I2 >I2 +P3"},
  {"C an I of a disturbed GOP, W full: overwrite", "I P I",
      "+I0 -P1:no-room -I0:overwritten +I2"},
  {"C an I: prev_GOP_disturbed stays, as nothing resets it",
        "I P / I / I / B",
      "+I0 -P1:no-room >I0 +I2 >I2 +I3 >I3 -B4:leading"},
  {"C a P in a disturbed GOP: discard, W empty or not", "I P P / P",
      "+I0 -P1:no-room -P2:disturbed >I0 -P3:disturbed"},
  {"C a P: prev_GOP_disturbed = false", "I P / I / P / B",
      "+I0 -P1:no-room >I0 +I2 >I2 +P3 >P3 +B4"},
  {"C a P: prev_GOP_disturbed = false, though it is discarded itself",
        "I P / I P / B / I / B",
      "+I0 -P1:no-room >I0 +I2 -P3:no-room >I2 -B4:disturbed > +I5 >I5 "
        "-B6:leading"},
  {"C a B, GOP_disturbed: discard, W empty", "I P / B",
      "+I0 -P1:no-room >I0 -B2:disturbed"},
  {"C a B, GOP_disturbed: discard, W full", "I P B",
      "+I0 -P1:no-room -B2:disturbed"},
  {"C a B, prev_GOP_disturbed: discard, W full", "I P / I B",
      "+I0 -P1:no-room >I0 +I2 -B3:leading"},
  {"until the first P-frame is encountered", "I P / I / B B P / B",
      "+I0 -P1:no-room >I0 +I2 >I2 -B3:leading -B4:leading +P5 >P5 +B6"},
};

GST_START_TEST (figures_1_2_and_1_3_line_by_line)
{
  IFD_EXPECT_ALL (&paper_gop, figure_1_2_cases);
}

GST_END_TEST;

/* Figures 1.2 and 1.3 of the paper describe two algorithms. In these cases, the
 * described algorithms give wrong results. The code must follow the figures
 * literally, including these faults. */
GST_START_TEST (figures_1_2_and_1_3_with_their_faults)
{
  const IfdCase cases[] = {
    {"an I overwrites the P that leading B-frames need: they are sent",
          "I / P I / B",
        "+I0 >I0 +P1 -P1:overwritten +I2 >I2 +B3"},
    {"an I overwrites an I", "I I / B",
        "+I0 -I0:overwritten +I1 >I1 +B2"},
    {"leading B-frames of a closed GOP, which nothing disturbs, are not",
          "I P / Ic / B",
        "+I0 -P1:no-room >I0 +I2 >I2 -B3:leading"},
    {"those behind a broken link are", "I / Ix / B",
        "+I0 >I0 +I1 >I1 +B2"},
    {"a stream may begin with any frame", "B / P / B",
        "+B0 >B0 +P1 >P1 +B2"},
  };

  IFD_EXPECT_ALL (&paper_gop, cases);
}

GST_END_TEST;

GST_START_TEST (paper_algorithms_have_a_w_of_one)
{
  const IfdConfig wide_paper = { IFD_ALGORITHM_PAPER, 9 };
  const IfdConfig wide_paper_gop = { IFD_ALGORITHM_PAPER_GOP, 9 };

  IFD_EXPECT_ALL (&wide_paper, figure_1_1_cases);
  IFD_EXPECT_ALL (&wide_paper_gop, figure_1_1_cases);
  IFD_EXPECT_ALL (&wide_paper_gop, figure_1_2_cases);
}

GST_END_TEST;

/* Figures 1.1 to 1.3 of the paper by Ouwens do not say what to do with an
 * incomplete frame, or when a new receiver joins. The test checks what the
 * implementation does in these two cases. */
GST_START_TEST (paper_algorithms_beyond_the_figures)
{
  const IfdCase both[] = {
    {"an incomplete frame is dropped", "I / P!", "+I0 >I0 -P1:incomplete"},
    {"a new receiver begins with the next I", "I / P restart B P I",
        "+I0 >I0 +P1 -P1:no-i-frame -B2:no-i-frame -P3:no-i-frame +I4"},
    {"a new receiver begins with the I in W", "I restart / P",
        "+I0 >I0 +P1"},
  };
  const IfdCase only_gop[] = {
    {"an incomplete P is a lost P", "I / P! P B I / B",
        "+I0 >I0 -P1:incomplete -P2:disturbed -B3:disturbed +I4 >I4 "
          "-B5:leading"},
    {"an incomplete B is nothing", "I / B! P", "+I0 >I0 -B1:incomplete +P2"},
    {"a new receiver has no use for leading B-frames", "I / restart I / B P",
        "+I0 >I0 +I1 >I1 -B2:leading +P3"},
  };
  const IfdCase only_paper[] = {
    {"figure 1.1 knows no leading B-frames", "I / restart I / B",
        "+I0 >I0 +I1 >I1 +B2"},
  };

  IFD_EXPECT_ALL (&paper, both);
  IFD_EXPECT_ALL (&paper_gop, both);
  IFD_EXPECT_ALL (&paper_gop, only_gop);
  IFD_EXPECT_ALL (&paper, only_paper);
}

GST_END_TEST;

/* A second implementation of the figures */

/* This file has a second implementation of the algorithms. The last test
 * compares its decisions with those of ifd.c. This struct is the state of the
 * second implementation. The variables have the names that they have in figures
 * 1.1 to 1.3 of Ouwens (2006), and the steps have the order of these figures. W
 * is the type of the waiting frame, or 0 if no frame waits. */
typedef struct
{
  gchar W;
  gboolean GOP_disturbed, prev_GOP_disturbed;
} Figure;

typedef enum
{
  STORED,
  DISCARDED,
  OVERWRITTEN
} Outcome;

static Outcome
figure_1_1 (Figure * f, gchar C)
{
  if (f->W == 0) {
    f->W = C;
    return STORED;
  }
  if (C == 'I') {
    f->W = C;
    return OVERWRITTEN;
  } else if (C == 'B') {
    return DISCARDED;
  } else if (f->W == 'I' || f->W == 'P') {
    return DISCARDED;
  } else {
    f->W = C;
    return OVERWRITTEN;
  }
}

static Outcome
figures_1_2_and_1_3 (Figure * f, gchar C)
{
  gboolean discard_rest_of_GOP = FALSE;

  if (C == 'I') {
    if (f->GOP_disturbed)
      f->prev_GOP_disturbed = TRUE;
    f->GOP_disturbed = FALSE;
  } else if (C == 'P') {
    if (f->GOP_disturbed)
      discard_rest_of_GOP = TRUE;
    f->prev_GOP_disturbed = FALSE;
  } else if (C == 'B') {
    if (f->GOP_disturbed || f->prev_GOP_disturbed)
      discard_rest_of_GOP = TRUE;
  }

  if (discard_rest_of_GOP)
    return DISCARDED;
  else if (f->W == 0) {
    f->W = C;
    return STORED;
  } else {
    if (C == 'I') {
      f->W = C;
      return OVERWRITTEN;
    } else if (C == 'B') {
      return DISCARDED;
    } else if (f->W == 'I' || f->W == 'P') {
      f->GOP_disturbed = TRUE;
      return DISCARDED;
    } else {
      f->W = C;
      return OVERWRITTEN;
    }
  }
}

static Outcome
take_outcome (Ifd * ifd, guint64 number)
{
  Outcome outcome = STORED;
  IfdEvent event;

  while (ifd_poll_event (ifd, &event)) {
    if (event.type == IFD_EVENT_DROPPED)
      outcome = event.frame.number == number ? DISCARDED : OVERWRITTEN;
  }
  return outcome;
}

static guint
draw_below (guint64 seed, guint64 index, guint purpose, guint n)
{
  return seeded_draw_below (seeded_draw (seed, 0, purpose, index, 0), n);
}

static void
compare (guint64 seed, IfdAlgorithm algorithm,
    Outcome (*figure) (Figure * f, gchar C))
{
  IfdConfig config = { algorithm, 1 };
  Ifd *ifd = ifd_new (&config);
  Figure f = { 0, };
  IfdFrame frame = { 0, };
  guint64 i;

  for (i = 0; i < 2000; i++) {
    guint busy = i % 400 / 4;   /* percent */
    Outcome outcome;

    frame.type = draw_below (seed, i, 0, IFD_FRAME_LAST);
    ifd_input (ifd, 0, &frame);
    outcome = figure (&f, ifd_frame_type_char (frame.type));
    fail_unless_equals_int (take_outcome (ifd, i), outcome);
    if (draw_below (seed, i, 1, 100) < busy)
      continue;
    fail_unless_equals_int (ifd_poll_output (ifd, 0, &frame), f.W != 0);
    if (f.W) {
      fail_unless_equals_int (ifd_frame_type_char (frame.type), f.W);
      ifd_sent (ifd, 0);
    }
    f.W = 0;
  }
  ifd_free (ifd);
}

GST_START_TEST (figures_written_twice_agree)
{
  guint64 seed;

  for (seed = 0; seed < 20; seed++) {
    compare (seed, IFD_ALGORITHM_PAPER, figure_1_1);
    compare (seed, IFD_ALGORITHM_PAPER_GOP, figures_1_2_and_1_3);
  }
}

GST_END_TEST;

static Suite *
ifdfigures_suite (void)
{
  Suite *s = suite_create ("ifdfigures");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, figure_1_1_line_by_line);
  tcase_add_test (tc, figure_1_1_goes_on_in_a_disturbed_gop);
  tcase_add_test (tc, figure_1_3_performs_ifd_normally);
  tcase_add_test (tc, figures_1_2_and_1_3_line_by_line);
  tcase_add_test (tc, figures_1_2_and_1_3_with_their_faults);
  tcase_add_test (tc, paper_algorithms_have_a_w_of_one);
  tcase_add_test (tc, paper_algorithms_beyond_the_figures);
  tcase_add_test (tc, figures_written_twice_agree);
  return s;
}

GST_CHECK_MAIN (ifdfigures);
