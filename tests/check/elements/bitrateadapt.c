/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the element bitrateadapt, which adapts the bitrate of an encoder to
 * the network. The encoders and sinks of these tests are fakes. They have the
 * names and properties of real elements, accept all buffers, and behave as the
 * test wants. Real encoders are tested in tests/interop/bitrateencoders.c.
 */

#include <gst/check/gstcheck.h>

/* --- an encoder ----------------------------------------------------------- */

typedef struct
{
  GstElement parent;
  GstPad *sinkpad, *srcpad;
  guint bitrate, target_bitrate;
  GstStructure *controls;
  /* Two atomic flags that a test sets. If `refuses` is TRUE, the encoder
   * accepts no new bitrate. If `forgets` is TRUE, the encoder returns to its
   * default bitrate when it gets new caps. */
  gint refuses, forgets;
  gint forgot;                  /* atomic */
  gint key_frames;              /* atomic: asked for */
} TestEncoder;

typedef struct
{
  GstElementClass parent;
} TestEncoderClass;

static GType test_encoder_get_type (void);
G_DEFINE_TYPE (TestEncoder, test_encoder, GST_TYPE_ELEMENT);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void
test_encoder_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  TestEncoder *self = (TestEncoder *) object;

  if (g_atomic_int_get (&self->refuses))
    return;
  GST_OBJECT_LOCK (self);
  if (id == 1) {
    self->bitrate = g_value_get_uint (value);
  } else if (id == 2) {
    self->target_bitrate = g_value_get_int (value);
  } else {
    g_clear_pointer (&self->controls, gst_structure_free);
    self->controls = g_value_dup_boxed (value);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
test_encoder_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  TestEncoder *self = (TestEncoder *) object;

  GST_OBJECT_LOCK (self);
  if (id == 1)
    g_value_set_uint (value, self->bitrate);
  else if (id == 2)
    g_value_set_int (value, self->target_bitrate);
  else
    g_value_set_boxed (value, self->controls);
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
test_encoder_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  return gst_pad_push (((TestEncoder *) parent)->srcpad, buffer);
}

static gboolean
test_encoder_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  TestEncoder *self = (TestEncoder *) parent;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS
      && g_atomic_int_get (&self->forgets)) {
    GST_OBJECT_LOCK (self);
    self->bitrate = 2048;
    GST_OBJECT_UNLOCK (self);
    g_atomic_int_set (&self->forgot, TRUE);
  }
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
test_encoder_src_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  const GstStructure *structure = gst_event_get_structure (event);

  if (structure && gst_structure_has_name (structure, "GstForceKeyUnit"))
    g_atomic_int_inc (&((TestEncoder *) parent)->key_frames);
  return gst_pad_event_default (pad, parent, event);
}

static void
test_encoder_finalize (GObject * object)
{
  TestEncoder *self = (TestEncoder *) object;

  g_clear_pointer (&self->controls, gst_structure_free);
  G_OBJECT_CLASS (test_encoder_parent_class)->finalize (object);
}

static void
test_encoder_init (TestEncoder * self)
{
  self->bitrate = 2048;
  self->target_bitrate = 2048000;
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, test_encoder_chain);
  gst_pad_set_event_function (self->sinkpad, test_encoder_sink_event);
  GST_PAD_SET_PROXY_CAPS (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_event_function (self->srcpad, test_encoder_src_event);
  GST_PAD_SET_PROXY_CAPS (self->srcpad);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->srcpad);
}

static void
test_encoder_class_init (TestEncoderClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = test_encoder_set_property;
  object_class->get_property = test_encoder_get_property;
  object_class->finalize = test_encoder_finalize;
  g_object_class_install_property (object_class, 1, g_param_spec_uint
      ("bitrate", "", "", 1, 100000000, 2048, G_PARAM_READWRITE));
  g_object_class_install_property (object_class, 2, g_param_spec_int
      ("target-bitrate", "", "", 0, G_MAXINT, 2048000, G_PARAM_READWRITE));
  g_object_class_install_property (object_class, 3, g_param_spec_boxed
      ("extra-controls", "", "", GST_TYPE_STRUCTURE, G_PARAM_READWRITE));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Test encoder",
      "Codec/Encoder/Video", "Passes everything", "The authors");
}

/* --- a sink that estimates the network ------------------------------------ */

typedef struct
{
  GstElement parent;
  guint estimate, padding;
  GstStructure *stats;
  gint taken;                   /* atomic: buffers */
  gint is_blocked;              /* atomic */
} TestNetwork;

typedef struct
{
  GstElementClass parent;
} TestNetworkClass;

static GType test_network_get_type (void);
G_DEFINE_TYPE (TestNetwork, test_network, GST_TYPE_ELEMENT);

static void
test_network_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  TestNetwork *self = (TestNetwork *) object;

  GST_OBJECT_LOCK (self);
  if (id == 1)
    g_value_set_boxed (value, self->stats);
  else
    g_value_set_uint (value, id == 2 ? self->estimate : self->padding);
  GST_OBJECT_UNLOCK (self);
}

static void
test_estimator_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  TestNetwork *self = (TestNetwork *) object;

  GST_OBJECT_LOCK (self);
  self->padding = g_value_get_uint (value);
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
test_network_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  TestNetwork *self = (TestNetwork *) parent;

  gst_buffer_unref (buffer);
  g_atomic_int_inc (&self->taken);
  while (g_atomic_int_get (&self->is_blocked))
    g_usleep (1000);
  return GST_FLOW_OK;
}

static void
test_network_finalize (GObject * object)
{
  TestNetwork *self = (TestNetwork *) object;

  g_clear_pointer (&self->stats, gst_structure_free);
  G_OBJECT_CLASS (test_network_parent_class)->finalize (object);
}

static void
test_network_init (TestNetwork * self)
{
  GstPad *pad = gst_pad_new_from_static_template (&sink_template, "sink");

  self->stats = gst_structure_new_empty ("stats");
  gst_pad_set_chain_function (pad, test_network_chain);
  gst_element_add_pad (GST_ELEMENT_CAST (self), pad);
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SINK);
}

static void
test_network_class_init (TestNetworkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->get_property = test_network_get_property;
  object_class->finalize = test_network_finalize;
  g_object_class_install_property (object_class, 1, g_param_spec_boxed
      ("stats", "", "", GST_TYPE_STRUCTURE, G_PARAM_READABLE));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Test sink",
      "Sink/Network", "Takes everything", "The authors");
}

typedef TestNetwork TestEstimator;
typedef TestNetworkClass TestEstimatorClass;

static GType test_estimator_get_type (void);
G_DEFINE_TYPE (TestEstimator, test_estimator, test_network_get_type ());

static void
test_estimator_init (TestEstimator * self)
{
}

static void
test_estimator_class_init (TestEstimatorClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = test_network_get_property;
  object_class->set_property = test_estimator_set_property;
  g_object_class_install_property (object_class, 2, g_param_spec_uint
      ("estimated-bitrate", "", "", 0, G_MAXUINT, 0, G_PARAM_READABLE));
  g_object_class_install_property (object_class, 3, g_param_spec_uint
      ("padding-bitrate", "", "", 0, G_MAXUINT, 0, G_PARAM_READWRITE));
}

/* Registers an element with the name `name`. The element gets a new GType that
 * is derived from `parent`, because a GType can belong to one element factory
 * only. */
static void
register_element (const gchar * name, GType parent)
{
  gchar *type_name = g_strdup_printf ("Test-%s", name);
  GTypeQuery query;

  g_type_query (parent, &query);
  gst_element_register (NULL, name, GST_RANK_NONE,
      g_type_register_static_simple (parent, type_name, query.class_size, NULL,
          query.instance_size, NULL, 0));
  g_free (type_name);
}

static void
register_elements (void)
{
  static const gchar *const encoders[] = { "x264enc", "x265enc", "openh264enc",
    "vp8enc", "v4l2h264enc", "mpeg2enc", "oddenc"
  };
  static const gchar *const networks[] = { "srtsink", "ristsink",
    "rtpsession", "plainsink"
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (encoders); i++)
    register_element (encoders[i], test_encoder_get_type ());
  for (i = 0; i < G_N_ELEMENTS (networks); i++)
    register_element (networks[i], test_network_get_type ());
  register_element ("estimator", test_estimator_get_type ());
}

/* --- a pipeline ----------------------------------------------------------- */

/* Elements that output 500 buffers per second. Each buffer has 1000 bytes. */
#define SOURCE "fakesrc sizetype=fixed sizemax=1000 filltype=nothing ! " \
    "identity sleep-time=2000 ! "

static GstElement *pipeline, *adapt;
static TestEncoder *encoder;
static TestNetwork *network;

static gpointer
get_element (const gchar * name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

  if (element)
    gst_object_unref (element); /* the pipeline's */
  return element;
}

/* Creates the pipeline that the launch line `text` describes. If it has
 * elements with the names `enc`, `adapt` and `net`, stores them in the
 * variables `encoder`, `adapt` and `network`. */
static void
begin (const gchar * text)
{
  GError *error = NULL;

  pipeline = gst_parse_launch (text, &error);
  g_assert_no_error (error);
  adapt = get_element ("adapt");
  encoder = get_element ("enc");
  network = get_element ("net");
}

static void
play (void)
{
  fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING) ==
      GST_STATE_CHANGE_FAILURE);
}

static void
end (void)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_clear_object (&pipeline);
}

#define wait_until(condition) G_STMT_START { \
  gint64 deadline_ = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND; \
  while (!(condition)) { \
    fail_unless (g_get_monotonic_time () < deadline_, #condition); \
    g_usleep (1000); \
  } \
} G_STMT_END

static void
set_estimate (TestNetwork * of, guint estimate)
{
  GST_OBJECT_LOCK (of);
  of->estimate = estimate;
  GST_OBJECT_UNLOCK (of);
}

/* Takes the structure. */
static void
set_stats (TestNetwork * of, GstStructure * stats)
{
  GST_OBJECT_LOCK (of);
  gst_structure_free (of->stats);
  of->stats = stats;
  GST_OBJECT_UNLOCK (of);
}

static GstStructure *
make_entry (const gchar * array, GstStructure * entry)
{
  GstStructure *stats = gst_structure_new_empty ("stats");
  GValue entries = G_VALUE_INIT, value = G_VALUE_INIT;

  G_GNUC_BEGIN_IGNORE_DEPRECATIONS;
  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, entry);
  g_value_init (&entries, g_value_array_get_type ());
  g_value_take_boxed (&entries, g_value_array_append (g_value_array_new (1),
          &value));
  g_value_unset (&value);
  gst_structure_take_value (stats, array, &entries);
  G_GNUC_END_IGNORE_DEPRECATIONS;
  return stats;
}

static guint
get_rate (gpointer element, const gchar * property)
{
  guint rate;

  g_object_get (element, property, &rate, NULL);
  return rate;
}

#define get_bitrate(element) get_rate (element, "bitrate")
#define wait_for_bitrate(element, kbit) \
    wait_until (get_bitrate (element) == (kbit))

static guint64
get_counter (const gchar * name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (adapt, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, name, &value);
  gst_structure_free (stats);
  return value;
}

/* Waits until bitrateadapt has read `n` more reports from the sink. In each
 * report, the sink says which bitrate the network can carry. */
static void
wait_for_reports (guint n)
{
  guint64 reports = get_counter ("reports");

  wait_until (get_counter ("reports") >= reports + n);
}

static void
wait_for_buffers (TestNetwork * of)
{
  gint taken = g_atomic_int_get (&of->taken);

  wait_until (g_atomic_int_get (&of->taken) >= taken + 5);
}

/* Waits for a message of the type `type` on the bus. Returns the message, which
 * the caller has to unref. */
static GstMessage *
take_message (GstMessageType type)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, type);

  fail_unless (message != NULL);
  gst_object_unref (bus);
  return message;
}

static gboolean
has_message (GstMessageType type)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, type);

  gst_object_unref (bus);
  if (message)
    gst_message_unref (message);
  return message != NULL;
}

/* Waits for the next message of the type `type`, which is a warning or an
 * error. Checks that the text of the message contains `text`. */
static void
assert_told (GstMessageType type, const gchar * text)
{
  GstMessage *message = take_message (type);
  GError *error;
  gchar *debug;

  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else
    gst_message_parse_warning (message, &error, &debug);
  fail_unless (strstr (error->message, text), "%s", error->message);
  g_error_free (error);
  g_free (debug);
  gst_message_unref (message);
}

/* --- finding the encoder, and the sink that estimates the bitrate --------- */

GST_START_TEST (encoder_gets_the_estimate_less_the_headroom)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  fail_unless_equals_int (get_rate (adapt, "target-bitrate"), 900000);
  set_estimate (network, 500000);
  wait_for_bitrate (encoder, 450);
  g_object_set (adapt, "headroom", 0.5, NULL);
  wait_for_bitrate (encoder, 300);
  g_object_set (adapt, "min-bitrate", 100000, NULL);
  set_estimate (network, 400000);
  wait_for_bitrate (encoder, 200);
  end ();
}

GST_END_TEST;

GST_START_TEST (rate_has_the_unit_of_the_encoder)
{
  static const struct
  {
    const gchar *factory, *property;
    guint expected;
  } cases[] = {
    {"x264enc", "bitrate", 900},
    {"x265enc", "bitrate", 900},
    {"openh264enc", "bitrate", 900000},
    {"vp8enc", "target-bitrate", 900000},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *text = g_strdup_printf (SOURCE "%s name=enc ! "
        "bitrateadapt name=adapt max-bitrate=6000000 ! estimator name=net",
        cases[i].factory);

    begin (text);
    g_free (text);
    set_estimate (network, 1000000);
    play ();
    wait_until (get_rate (encoder, cases[i].property) == cases[i].expected);
    end ();
  }
}

GST_END_TEST;

static gint
get_control (const gchar * name)
{
  GstStructure *controls;
  gint value = -1;

  g_object_get (encoder, "extra-controls", &controls, NULL);
  if (!controls)
    return -1;
  gst_structure_get_int (controls, name, &value);
  gst_structure_free (controls);
  return value;
}

GST_START_TEST (rate_of_v4l2_is_one_of_its_controls)
{
  GstStructure *controls = gst_structure_new ("controls", "h264_profile",
      G_TYPE_INT, 4, "video_bitrate", G_TYPE_INT, 5000000, NULL);

  begin (SOURCE "v4l2h264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  g_object_set (encoder, "extra-controls", controls, NULL);
  gst_structure_free (controls);
  play ();
  wait_until (get_rate (adapt, "target-bitrate") == 5000000);
  set_estimate (network, 1000000);
  wait_until (get_control ("video_bitrate") == 900000);
  fail_unless_equals_int (get_control ("h264_profile"), 4);
  end ();
}

GST_END_TEST;

GST_START_TEST (encoder_is_found_through_other_elements)
{
  begin (SOURCE "bin. ( name=bin x264enc name=enc ! identity ) ! queue ! "
      "capsfilter ! funnel ! tee name=t ! fakesink async=false "
      "t. ! queue ! bitrateadapt name=adapt ! queue ! "
      "bin. ( name=bin2 identity ! estimator name=net )");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  end ();
}

GST_END_TEST;

GST_START_TEST (encoder_and_estimator_are_found_by_name)
{
  begin (SOURCE "x264enc name=enc ! fakesink async=false "
      SOURCE "bitrateadapt name=adapt encoder=enc estimator=net ! "
      "fakesink async=false fakesrc num-buffers=1 ! estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  end ();
}

GST_END_TEST;

GST_START_TEST (lowest_of_several_estimates_counts)
{
  TestNetwork *other;

  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! tee name=t ! "
      "queue ! estimator name=net t. ! queue ! estimator name=other "
      "t. ! queue ! srtsink");
  other = get_element ("other");
  set_estimate (network, 2000000);
  play ();
  wait_for_bitrate (encoder, 1800);
  set_estimate (other, 1000000);
  wait_for_bitrate (encoder, 900);
  set_estimate (network, 500000);
  wait_for_bitrate (encoder, 450);
  end ();
}

GST_END_TEST;

GST_START_TEST (each_of_two_encoders_follows_its_own_network)
{
  TestEncoder *other_encoder;
  TestNetwork *other_network;

  begin (SOURCE "tee name=t ! queue ! x264enc name=enc ! "
      "bitrateadapt name=adapt ! estimator name=net "
      "t. ! queue ! x264enc name=enc2 ! bitrateadapt ! estimator name=net2");
  other_encoder = get_element ("enc2");
  other_network = get_element ("net2");
  set_estimate (network, 1000000);
  set_estimate (other_network, 500000);
  play ();
  wait_for_bitrate (encoder, 900);
  wait_for_bitrate (other_encoder, 450);
  end ();
}

GST_END_TEST;

/* --- the limits ----------------------------------------------------------- */

/* The encoder has a bitrate of 2048 kbit/s at the start, and the network can
 * carry more. If the property max-bitrate of bitrateadapt is 0, bitrateadapt
 * must never set a bitrate above 2048 kbit/s. If max-bitrate is not 0, its
 * value is the maximum instead. */
GST_START_TEST (encoder_never_exceeds_the_bitrate_that_it_had)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  set_estimate (network, 20000000);
  wait_for_bitrate (encoder, 2048);
  wait_for_reports (50);
  fail_unless_equals_int (get_bitrate (encoder), 2048);
  g_object_set (adapt, "max-bitrate", 3000000, NULL);
  wait_for_bitrate (encoder, 3000);
  g_object_set (adapt, "max-bitrate", 0, NULL);
  wait_for_bitrate (encoder, 2048);
  end ();
}

GST_END_TEST;

/* The pipeline runs several times. In each run, the maximum bitrate is the one
 * that the application has set in the encoder. At the start of the second run,
 * however, the encoder has the bitrate that bitrateadapt set in the first run.
 * bitrateadapt must not use this bitrate as the maximum. Before the third run,
 * the application sets another bitrate, which becomes the new maximum. */
GST_START_TEST (maximum_of_a_second_run_is_that_of_the_application)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  gst_element_set_state (pipeline, GST_STATE_READY);
  set_estimate (network, 20000000);
  play ();
  wait_for_bitrate (encoder, 2048);
  gst_element_set_state (pipeline, GST_STATE_READY);
  g_object_set (encoder, "bitrate", 4000, NULL);
  set_estimate (network, 2000000);
  play ();
  wait_for_bitrate (encoder, 1800);
  set_estimate (network, 20000000);
  wait_for_bitrate (encoder, 4000);
  end ();
}

GST_END_TEST;

/* bitrateadapt raises the bitrate of an encoder only up to a maximum. Usually,
 * the maximum is the bitrate to which the application has set the encoder. In
 * the encoder vp8enc, however, the bitrate 0 means that the encoder chooses a
 * bitrate itself, so 0 is not a maximum. If the bitrate is 0, bitrateadapt must
 * raise the bitrate up to its fallback maximum, 6 Mbit/s. */
GST_START_TEST (encoder_without_a_bitrate_gets_up_to_6_mbit)
{
  begin (SOURCE "vp8enc name=enc target-bitrate=0 ! "
      "bitrateadapt name=adapt ! estimator name=net");
  set_estimate (network, 20000000);
  play ();
  wait_until (get_rate (encoder, "target-bitrate") == 6000000);
  end ();
}

GST_END_TEST;

GST_START_TEST (minimum_above_the_maximum_is_a_warning)
{
  static const struct
  {
    const gchar *settings, *warning;
    guint expected;
  } cases[] = {
    {"max-bitrate=1000000 min-bitrate=3000000", "min-bitrate is 3000000 bit/s, "
          "but the maximum is 1000000 bit/s: the encoder is never set below the "
          "maximum. Set min-bitrate lower, or max-bitrate higher.", 1000},
    {"min-bitrate=3000000", "min-bitrate is 3000000 bit/s, but the maximum is "
          "2048000 bit/s, the bitrate that the encoder is set to: the encoder "
          "is never set below the maximum. Set min-bitrate lower, or the "
          "bitrate of the encoder or max-bitrate higher.", 2048},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *text = g_strdup_printf (SOURCE "x264enc name=enc ! bitrateadapt "
        "name=adapt %s ! estimator name=net", cases[i].settings);

    begin (text);
    g_free (text);
    set_estimate (network, 500000);
    play ();
    assert_told (GST_MESSAGE_WARNING, cases[i].warning);
    wait_for_bitrate (encoder, cases[i].expected);
    wait_for_reports (10);
    fail_unless_equals_int (get_bitrate (encoder), cases[i].expected);
    fail_if (has_message (GST_MESSAGE_WARNING));
    end ();
  }
}

GST_END_TEST;

/* --- the rules ------------------------------------------------------------ */

GST_START_TEST (estimate_of_a_limited_application_does_not_lower_the_rate)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_stats (network, gst_structure_new ("stats", "application-limited",
          G_TYPE_BOOLEAN, TRUE, NULL));
  set_estimate (network, 1000000);
  play ();
  wait_until (get_counter ("reports") > 10);
  fail_unless (get_bitrate (encoder) >= 2048);
  set_stats (network, gst_structure_new_empty ("stats"));
  wait_for_bitrate (encoder, 900);
  end ();
}

GST_END_TEST;

GST_START_TEST (waiting_data_lower_the_rate)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 2000000);
  play ();
  wait_for_bitrate (encoder, 1800);
  set_stats (network, gst_structure_new ("stats", "queued-bytes",
          G_TYPE_UINT64, G_GUINT64_CONSTANT (500000), NULL));
  wait_for_bitrate (encoder, 540);
  fail_unless_equals_uint64 (get_counter ("queued-bytes"), 500000);
  end ();
}

GST_END_TEST;

/* The statistics of the sink contain impossible numbers: 2^64 - 1 queued bytes
 * and -2^63 bytes in flight. bitrateadapt must count the queued bytes as 10^18,
 * and must lower the bitrate. */
GST_START_TEST (endless_queue_asks_for_the_lowest_rate)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 2000000);
  play ();
  wait_for_bitrate (encoder, 1800);
  set_stats (network, gst_structure_new ("stats",
          "queued-bytes", G_TYPE_UINT64, G_MAXUINT64,
          "in-flight", G_TYPE_INT64, G_MININT64, NULL));
  wait_for_bitrate (encoder, 540);
  fail_unless_equals_uint64 (get_counter ("queued-bytes"),
      G_GUINT64_CONSTANT (1000000000000000000));
  end ();
}

GST_END_TEST;

GST_START_TEST (blocked_sink_with_a_queue_lowers_the_rate)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "queue max-size-buffers=0 max-size-time=0 max-size-bytes=1000000 ! "
      "estimator name=net");
  set_estimate (network, 2000000);
  play ();
  wait_for_bitrate (encoder, 1800);
  g_atomic_int_set (&network->is_blocked, TRUE);
  wait_until (get_bitrate (encoder) < 1500);
  g_atomic_int_set (&network->is_blocked, FALSE);
  end ();
}

GST_END_TEST;

/* Checks the counter `queued-bytes` of bitrateadapt. A tee sends the stream
 * into two branches, each with a queue and a sink: `net` is the network sink,
 * and `other` is another sink. The counter must include only the data in the
 * branch of `net`. It must therefore return to 0 when `other` is still blocked
 * but `net` is not. */
static void
check_queues (const gchar * properties)
{
  TestNetwork *other;
  gchar *line = g_strdup_printf (SOURCE "x264enc name=enc ! "
      "bitrateadapt name=adapt %s ! tee name=t ! queue ! estimator name=net "
      "t. ! queue max-size-buffers=0 max-size-time=0 max-size-bytes=0 ! "
      "srtsink name=other", properties);

  begin (line);
  g_free (line);
  other = get_element ("other");
  set_estimate (network, 2000000);
  play ();
  wait_for_bitrate (encoder, 1800);
  g_atomic_int_set (&other->is_blocked, TRUE);
  g_atomic_int_set (&network->is_blocked, TRUE);
  wait_until (get_counter ("queued-bytes") > 0);
  g_atomic_int_set (&network->is_blocked, FALSE);
  wait_until (get_counter ("queued-bytes") == 0);
  g_atomic_int_set (&other->is_blocked, FALSE);
  end ();
}

GST_START_TEST (queue_of_another_branch_does_not_count)
{
  check_queues ("");
}

GST_END_TEST;

GST_START_TEST (queue_before_the_named_estimator_counts)
{
  check_queues ("estimator=net");
}

GST_END_TEST;

GST_START_TEST (encoder_follows_while_the_stream_is_blocked)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 2000000);
  play ();
  wait_for_bitrate (encoder, 1800);
  g_atomic_int_set (&network->is_blocked, TRUE);
  set_estimate (network, 1000000);
  wait_for_bitrate (encoder, 900);
  g_atomic_int_set (&network->is_blocked, FALSE);
  end ();
}

GST_END_TEST;

GST_START_TEST (reserved_bitrate_is_left_to_others)
{
  begin (SOURCE "x264enc name=enc ! "
      "bitrateadapt name=adapt reserved-bitrate=200000 ! estimator name=net");
  set_estimate (network, 1200000);
  play ();
  wait_for_bitrate (encoder, 900);
  set_estimate (network, 100000);
  wait_for_bitrate (encoder, 300);
  end ();
}

GST_END_TEST;

static guint
get_padding (void)
{
  guint padding;

  g_object_get (network, "padding-bitrate", &padding, NULL);
  return padding;
}

/* bitrateadapt sets the encoder to nine tenths of the bitrate that the sink
 * estimates, but at most to 2.048 Mbit/s, the bitrate of the encoder at the
 * start. Nine tenths of an estimate of 2.3 Mbit/s exceed this maximum, so
 * bitrateadapt must tell the sink to send no padding. Nine tenths of an
 * estimate of 2.2 Mbit/s are less than the maximum. bitrateadapt must then make
 * the sink send padding, because padding shows whether the network carries
 * more. */
GST_START_TEST (padding_stops_when_the_estimate_allows_the_maximum)
{
  begin (SOURCE "x264enc name=enc ! "
      "bitrateadapt name=adapt padding-bitrate=500000 ! estimator name=net");
  set_estimate (network, 1200000);
  play ();
  wait_until (get_padding () == 500000);
  set_estimate (network, 2300000);
  wait_until (get_padding () == 0);
  set_estimate (network, 2200000);
  wait_until (get_padding () == 500000);
  g_object_set (adapt, "padding-bitrate", 0, NULL);
  wait_until (get_padding () == 0);
  end ();
}

GST_END_TEST;

GST_START_TEST (sink_keeps_its_own_padding)
{
  begin (SOURCE "x264enc name=enc ! "
      "bitrateadapt name=adapt ! estimator name=net padding-bitrate=7");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  g_assert_cmpuint (get_padding (), ==, 7);
  end ();
}

GST_END_TEST;

static GstStructure *
make_srt_stats (gdouble round_trip, gint dropped)
{
  return gst_structure_new ("application/x-srt-statistics",
      "rtt-ms", G_TYPE_DOUBLE, round_trip, "send-rate-mbps", G_TYPE_DOUBLE, 2.0,
      "negotiated-latency-ms", G_TYPE_INT, 2000,
      "packets-sent-dropped", G_TYPE_INT, dropped, NULL);
}

GST_START_TEST (round_trip_of_srt_decides)
{
  begin (SOURCE "x264enc name=enc ! "
      "bitrateadapt name=adapt max-bitrate=6000000 ! srtsink name=net");
  set_stats (network, make_srt_stats (40, 0));
  play ();
  wait_until (get_bitrate (encoder) > 2048);
  set_stats (network, make_srt_stats (700, 0));
  wait_for_bitrate (encoder, 300);
  fail_unless_equals_int (g_atomic_int_get (&encoder->key_frames), 0);
  set_stats (network, make_srt_stats (40, 3));
  wait_until (g_atomic_int_get (&encoder->key_frames) == 1);
  end ();
}

GST_END_TEST;

GST_START_TEST (slowest_caller_of_srt_decides)
{
  begin (SOURCE
      "x264enc name=enc ! bitrateadapt name=adapt ! srtsink name=net");
  set_stats (network, make_entry ("callers", make_srt_stats (700, 0)));
  play ();
  wait_for_bitrate (encoder, 300);
  end ();
}

GST_END_TEST;

GST_START_TEST (round_trip_of_rist_decides)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "ristsink name=net");
  set_stats (network, make_entry ("session-stats", gst_structure_new ("session",
              "round-trip-time", G_TYPE_UINT64, 700 * GST_MSECOND, NULL)));
  play ();
  wait_for_bitrate (encoder, 300);
  end ();
}

GST_END_TEST;

static GstStructure *
make_rtcp_stats (guint fraction, guint highest)
{
  return make_entry ("source-stats", gst_structure_new ("source",
          "internal", G_TYPE_BOOLEAN, FALSE, "have-rb", G_TYPE_BOOLEAN, TRUE,
          "rb-fractionlost", G_TYPE_UINT, fraction,
          "rb-packetslost", G_TYPE_INT, fraction,
          "rb-exthighestseq", G_TYPE_UINT, highest, NULL));
}

/* The sink reports that a quarter of the packets was lost. bitrateadapt must
 * lower the bitrate by one eighth after each such report. */
GST_START_TEST (losses_of_rtcp_decide)
{
  begin (SOURCE "x264enc name=enc bitrate=4000 ! bitrateadapt name=adapt ! "
      "rtpsession name=net");
  play ();
  wait_for_bitrate (encoder, 4000);
  set_stats (network, make_rtcp_stats (64, 1000));
  wait_for_bitrate (encoder, 3500);
  wait_for_buffers (network);
  fail_unless_equals_int (get_bitrate (encoder), 3500);
  set_stats (network, make_rtcp_stats (64, 2000));
  wait_for_bitrate (encoder, 3062);
  end ();
}

GST_END_TEST;

/* --- key frames ----------------------------------------------------------- */

static void
set_lost (guint64 lost)
{
  set_stats (network, gst_structure_new ("stats", "not-repaired", G_TYPE_UINT64,
          lost, NULL));
}

GST_START_TEST (loss_asks_for_a_key_frame_once_a_second)
{
  begin (SOURCE "x264enc name=enc ! queue ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 1000000);
  set_lost (5);
  play ();
  wait_for_buffers (network);
  wait_for_reports (2);
  fail_unless_equals_int (g_atomic_int_get (&encoder->key_frames), 0);
  set_lost (7);
  wait_until (g_atomic_int_get (&encoder->key_frames) == 1);
  set_lost (8);
  wait_for_reports (5);
  set_lost (9);
  wait_for_reports (5);
  fail_unless_equals_int (g_atomic_int_get (&encoder->key_frames), 1);
  fail_unless_equals_uint64 (get_counter ("key-frames-requested"), 1);
  fail_unless_equals_uint64 (get_counter ("lost"), 9);
  end ();
}

GST_END_TEST;

/* Returns statistics in the format of mmtpsink, with one channel. `late` is the
 * number of packets that arrived too late. `queue_delay` is the queueing delay
 * in ns. */
static GstStructure *
make_channel_stats (guint64 late, guint64 queue_delay)
{
  GstStructure *stats = gst_structure_new ("stats",
      "queued-bytes", G_TYPE_UINT64, G_GUINT64_CONSTANT (0), NULL);
  GValue array = G_VALUE_INIT, channel = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  g_value_init (&channel, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&channel, gst_structure_new ("channel",
          "share", G_TYPE_DOUBLE, 1.0,
          "in-flight", G_TYPE_UINT64, G_GUINT64_CONSTANT (10000),
          "late", G_TYPE_UINT64, late,
          "queue-delay", G_TYPE_UINT64, queue_delay, NULL));
  gst_value_array_append_and_take_value (&array, &channel);
  gst_structure_take_value (stats, "channels", &array);
  return stats;
}

/* The receiver drops a packet that arrives too late, and all pictures that need
 * this packet are damaged. When the reported number of late packets increases,
 * bitrateadapt must therefore request a key frame. */
GST_START_TEST (late_packet_asks_for_a_key_frame)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 1000000);
  set_stats (network, make_channel_stats (3, 0));
  play ();
  wait_for_buffers (network);
  wait_for_reports (2);
  fail_unless_equals_int (g_atomic_int_get (&encoder->key_frames), 0);
  set_stats (network, make_channel_stats (4, 0));
  wait_until (g_atomic_int_get (&encoder->key_frames) == 1);
  end ();
}

GST_END_TEST;

GST_START_TEST (queue_in_the_network_lowers_the_bitrate)
{
  begin (SOURCE "x264enc name=enc bitrate=2000 ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 4000000);
  set_stats (network, make_channel_stats (0, 5 * GST_MSECOND));
  play ();
  wait_for_buffers (network);
  wait_for_reports (5);
  fail_unless_equals_int (get_bitrate (encoder), 2000);
  set_stats (network, make_channel_stats (0, 240 * GST_MSECOND));
  wait_until (get_bitrate (encoder) < 2000);
  end ();
}

GST_END_TEST;

/* The test simulates the way of each buffer to a network sink. A buffer reaches
 * the sink ON_THE_WAY us after it was pushed. For the following IN_FLIGHT us,
 * the sink counts it as in flight. */
#define ON_THE_WAY (30 * G_TIME_SPAN_MILLISECOND)
#define IN_FLIGHT (290 * G_TIME_SPAN_MILLISECOND)
#define BUFFER_SIZE "25000"

typedef struct
{
  GMutex mutex;
  /* The time in us at which each buffer reached the sink, as gint64. Protected
   * by `mutex`. */
  GArray *arrivals;
} FlightLog;

static void
report_flight (FlightLog * log, gboolean is_arrival)
{
  gint64 now = g_get_monotonic_time ();
  guint64 in_flight = 0;
  guint i;

  g_mutex_lock (&log->mutex);
  if (is_arrival)
    g_array_append_val (log->arrivals, now);
  for (i = 0; i < log->arrivals->len; i++)
    if (g_array_index (log->arrivals, gint64, i) + IN_FLIGHT > now)
      in_flight += atoi (BUFFER_SIZE);
  set_stats (network, gst_structure_new ("stats",
          "queued-bytes", G_TYPE_UINT64, G_GUINT64_CONSTANT (0),
          "in-flight", G_TYPE_UINT64, in_flight, NULL));
  g_mutex_unlock (&log->mutex);
}

static GstPadProbeReturn
delay_buffer (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  g_usleep (ON_THE_WAY);
  report_flight (data, TRUE);
  return GST_PAD_PROBE_OK;
}

/* The pipeline delays each buffer on its way from bitrateadapt to the sink.
 * During this time, bitrateadapt must not count the buffer as confirmed by the
 * receiver. Otherwise the age of the backlog (the data that are not confirmed
 * yet) would be wrong: it would be too low at first and too high later.
 *
 * The test reads the bitrate of the encoder 800 times. At least 600 of these
 * values must be 1500 kbit/s or more. Not all values have to be, because on a
 * busy machine the bitrate may be low for some time although bitrateadapt works
 * correctly. */
GST_START_TEST (buffer_on_its_way_to_the_sink_is_not_confirmed)
{
  FlightLog log = { 0 };
  guint i, n_high = 0;
  GstPad *pad;

  g_mutex_init (&log.mutex);
  log.arrivals = g_array_new (FALSE, FALSE, sizeof (gint64));
  begin ("fakesrc sizetype=fixed filltype=nothing sizemax=" BUFFER_SIZE
      " ! identity sleep-time=70000 ! x264enc name=enc bitrate=2000 ! "
      "bitrateadapt name=adapt ! estimator name=net");
  set_estimate (network, 4000000);
  report_flight (&log, FALSE);
  pad = gst_element_get_static_pad (GST_ELEMENT (network), "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, delay_buffer, &log, NULL);
  gst_object_unref (pad);
  play ();
  for (i = 0; i < 800; i++) {
    g_usleep (5000);
    report_flight (&log, FALSE);
    n_high += get_bitrate (encoder) >= 1500;
  }
  fail_unless (n_high >= 600, "%u", n_high);
  end ();
  g_array_unref (log.arrivals);
  g_mutex_clear (&log.mutex);
}

GST_END_TEST;

/* Names of three statistics of a sink with a single path and no channels: its
 * bytes in flight, its queueing delay and its round-trip time. */
typedef struct
{
  const gchar *in_flight, *queue_delay, *round_trip;
} PathNames;

static const PathNames path_names[] = {
  {"in-flight", "queue-delay", "round-trip"},   /* dccpthinsink */
  {"network-in-flight", "network-queue-delay", "network-rtt"},  /* ifdsink */
};

/* Returns the statistics of a sink that has a single path and therefore no
 * field `channels`. `queue_delay` is in ns. */
static GstStructure *
make_path_stats (const PathNames * names, guint64 packets_lost,
    guint64 queue_delay)
{
  return gst_structure_new ("stats",
      names->in_flight, G_TYPE_UINT64, G_GUINT64_CONSTANT (10000),
      names->round_trip, G_TYPE_UINT64, 40 * GST_MSECOND + queue_delay,
      "packets-lost", G_TYPE_UINT64, packets_lost,
      names->queue_delay, G_TYPE_UINT64, queue_delay, NULL);
}

GST_START_TEST (queue_and_losses_of_the_only_path_count)
{
  const PathNames *names = &path_names[__i__];

  begin (SOURCE "x264enc name=enc bitrate=2000 ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 4000000);
  set_stats (network, make_path_stats (names, 3, 0));
  play ();
  wait_for_buffers (network);
  wait_for_reports (5);
  fail_unless_equals_int (get_bitrate (encoder), 2000);
  fail_unless_equals_int (g_atomic_int_get (&encoder->key_frames), 0);
  set_stats (network, make_path_stats (names, 4, 0));
  wait_until (g_atomic_int_get (&encoder->key_frames) == 1);
  fail_unless_equals_uint64 (get_counter ("lost"), 4);
  fail_unless_equals_int (get_bitrate (encoder), 2000);
  set_stats (network, make_path_stats (names, 4, 240 * GST_MSECOND));
  wait_until (get_bitrate (encoder) < 2000);
  end ();
}

GST_END_TEST;

static void
request_key_frame (void)
{
  GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (network), "sink");

  gst_pad_push_event (pad, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
          gst_structure_new_empty ("GstForceKeyUnit")));
  gst_object_unref (pad);
}

GST_START_TEST (request_of_the_sink_is_passed_on_unless_one_comes)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_buffers (network);
  wait_for_reports (2);
  request_key_frame ();
  fail_unless_equals_int (g_atomic_int_get (&encoder->key_frames), 1);
  set_lost (7);
  wait_until (g_atomic_int_get (&encoder->key_frames) == 2);
  request_key_frame ();
  fail_unless_equals_int (g_atomic_int_get (&encoder->key_frames), 2);
  end ();
}

GST_END_TEST;

GST_START_TEST (no_key_frame_is_asked_for_unless_wanted)
{
  begin (SOURCE "x264enc name=enc ! "
      "bitrateadapt name=adapt request-key-frames=false ! estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_reports (2);
  set_lost (7);
  wait_for_reports (5);
  fail_unless_equals_int (g_atomic_int_get (&encoder->key_frames), 0);
  fail_unless_equals_uint64 (get_counter ("lost"), 7);
  end ();
}

GST_END_TEST;

/* --- changes while the pipeline plays ------------------------------------- */

static GstPadProbeReturn
block (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  g_atomic_int_set ((gint *) data, TRUE);
  return GST_PAD_PROBE_OK;
}

/* Replaces the element `old` of the pipeline. `before` and `after` are the
 * names of its neighbours; `after` is NULL if there is none. `new` is the
 * factory of the new element. If `new` is NULL, `old` is only removed. */
static void
replace (const gchar * before, GstElement * old, const gchar * new,
    const gchar * after)
{
  GstElement *upstream = get_element (before), *element;
  GstPad *pad = gst_element_get_static_pad (upstream, "src");
  gint is_blocked = FALSE;
  gulong id = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
      block, &is_blocked, NULL);

  wait_until (g_atomic_int_get (&is_blocked));
  gst_element_set_state (old, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (pipeline), old);
  if (new) {
    element = gst_element_factory_make (new, "new");
    gst_bin_add (GST_BIN (pipeline), element);
    fail_unless (gst_element_link (upstream, element));
    if (after)
      fail_unless (gst_element_link (element, get_element (after)));
    gst_element_sync_state_with_parent (element);
  } else {
    fail_unless (gst_element_link (upstream, get_element (after)));
  }
  gst_pad_remove_probe (pad, id);
  gst_object_unref (pad);
}

GST_START_TEST (stream_goes_on_without_the_encoder)
{
  begin (SOURCE "identity name=before ! x264enc name=enc ! "
      "bitrateadapt name=adapt ! estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  wait_for_buffers (network);
  replace ("before", GST_ELEMENT (encoder), NULL, "adapt");
  wait_for_buffers (network);
  fail_if (has_message (GST_MESSAGE_ERROR));
  end ();
}

GST_END_TEST;

GST_START_TEST (new_encoder_gets_the_rate_at_once)
{
  begin (SOURCE "identity name=before ! x264enc name=enc ! "
      "bitrateadapt name=adapt max-bitrate=6000000 ! estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  wait_for_buffers (network);
  replace ("before", GST_ELEMENT (encoder), "openh264enc", "adapt");
  wait_for_bitrate (get_element ("new"), 900000);
  wait_for_buffers (network);
  end ();
}

GST_END_TEST;

GST_START_TEST (another_sink_decides_from_then_on)
{
  TestNetwork *other;

  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "identity name=before ! estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  wait_for_buffers (network);
  replace ("before", GST_ELEMENT (network), "estimator", NULL);
  other = get_element ("new");
  wait_for_buffers (other);
  fail_unless_equals_int (get_bitrate (encoder), 900);
  set_estimate (other, 500000);
  wait_for_bitrate (encoder, 450);
  end ();
}

GST_END_TEST;

GST_START_TEST (encoder_that_forgets_its_rate_with_new_caps_is_told_again)
{
  GstCaps *caps = gst_caps_from_string ("video/x-raw, width=640");

  begin (SOURCE "capsfilter caps=video/x-raw,width=320 ! x264enc name=enc ! "
      "bitrateadapt name=adapt ! estimator name=net");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  wait_for_buffers (network);
  g_atomic_int_set (&encoder->forgets, TRUE);
  fail_unless (gst_pad_send_event (encoder->sinkpad, gst_event_new_caps
          (caps)));
  gst_caps_unref (caps);
  fail_unless (g_atomic_int_get (&encoder->forgot));
  wait_for_bitrate (encoder, 900);
  end ();
}

GST_END_TEST;

GST_START_TEST (it_starts_again_and_again)
{
  guint i;

  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  for (i = 0; i < 20; i++) {
    set_estimate (network, 1000000 + 10000 * i);
    play ();
    wait_for_bitrate (encoder, (1000 + 10 * i) * 9 / 10);
    gst_element_set_state (pipeline, GST_STATE_READY);
    g_object_set (encoder, "bitrate", 4000, NULL);
  }
  end ();
}

GST_END_TEST;

/* --- errors --------------------------------------------------------------- */

GST_START_TEST (encoder_that_refuses_is_told_of_once)
{
  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  g_atomic_int_set (&encoder->refuses, TRUE);
  set_estimate (network, 1000000);
  play ();
  assert_told (GST_MESSAGE_WARNING,
      "\"enc\" did not take a bitrate of 900000 bit/s");
  set_estimate (network, 800000);
  wait_until (get_counter ("refused") >= 2);
  wait_for_buffers (network);
  fail_if (has_message (GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  fail_unless_equals_int (get_bitrate (encoder), 2048);
  /* So far, the encoder has refused each new bitrate. From now on it accepts
   * bitrates, so the next bitrate of bitrateadapt must take effect. */
  g_atomic_int_set (&encoder->refuses, FALSE);
  set_estimate (network, 700000);
  wait_for_bitrate (encoder, 630);
  end ();
}

GST_END_TEST;

GST_START_TEST (encoder_whose_rate_is_fixed_is_an_error)
{
  begin (SOURCE "mpeg2enc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  play ();
  assert_told (GST_MESSAGE_ERROR, "The bitrate of \"enc\" cannot be changed "
      "while it runs: it takes its rate only when it starts.");
  wait_for_buffers (network);
  fail_if (has_message (GST_MESSAGE_ERROR));
  end ();
}

GST_END_TEST;

GST_START_TEST (unknown_encoder_is_an_error)
{
  begin (SOURCE "oddenc name=enc ! bitrateadapt name=adapt ! "
      "estimator name=net");
  play ();
  assert_told (GST_MESSAGE_ERROR, "The bitrate of \"enc\" cannot be changed "
      "while it runs: it is not known how its rate is changed.");
  wait_for_buffers (network);
  end ();
}

GST_END_TEST;

/* The pipeline has several faults, which cause the warnings in the table. Each
 * warning must be posted only once, and all streams must continue. */
GST_START_TEST (each_fault_causes_one_warning_and_streams_continue)
{
  static const gchar *const expected[] = {
    "there is no video encoder upstream",
    "no element downstream knows what the network carries",
    "there are several video encoders upstream",
    "\"silent\" has reported nothing for 3 s",
    "the pipeline has no element \"missing\"",
  };
  GstElement *one, *two;
  gboolean is_told[G_N_ELEMENTS (expected)] = { FALSE };
  guint i, n;

  begin (SOURCE "bitrateadapt ! plainsink name=plain "
      "funnel name=f ! bitrateadapt ! estimator name=silent "
      SOURCE "x264enc name=one ! f. " SOURCE "x264enc name=two ! f. "
      SOURCE "bitrateadapt encoder=missing ! estimator name=net");
  set_estimate (network, 1000000);
  play ();
  for (n = 0; n < G_N_ELEMENTS (expected); n++) {
    GstMessage *message = take_message (GST_MESSAGE_WARNING);
    GError *error;

    gst_message_parse_warning (message, &error, NULL);
    for (i = 0; i < G_N_ELEMENTS (expected); i++)
      is_told[i] |= strstr (error->message, expected[i]) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  for (i = 0; i < G_N_ELEMENTS (expected); i++)
    fail_unless (is_told[i], "%s", expected[i]);
  wait_for_buffers (get_element ("plain"));
  wait_for_buffers (get_element ("silent"));
  wait_for_buffers (network);
  fail_if (has_message (GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  one = get_element ("one");
  two = get_element ("two");
  fail_unless_equals_int (get_bitrate (one), 2048);
  fail_unless_equals_int (get_bitrate (two), 2048);
  end ();
}

GST_END_TEST;

GST_START_TEST (one_of_several_encoders_follows_by_name)
{
  TestEncoder *other;

  begin ("funnel name=f ! bitrateadapt name=adapt encoder=enc ! "
      "estimator name=net " SOURCE "x264enc name=enc ! f. "
      SOURCE "x264enc name=other ! f.");
  other = get_element ("other");
  set_estimate (network, 1000000);
  play ();
  wait_for_bitrate (encoder, 900);
  fail_unless_equals_int (get_bitrate (other), 2048);
  g_object_set (adapt, "encoder", "other", NULL);
  wait_for_bitrate (other, 900);
  end ();
}

GST_END_TEST;

/* --- messages ------------------------------------------------------------- */

GST_START_TEST (changes_and_statistics_are_posted)
{
  GstMessage *message;
  const GstStructure *structure;
  guint64 rate = 0;

  begin (SOURCE "x264enc name=enc ! bitrateadapt name=adapt "
      "post-messages=true ! estimator name=net");
  set_estimate (network, 1000000);
  play ();
  message = take_message (GST_MESSAGE_ELEMENT);
  structure = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (structure,
          "application/x-bitrateadapt-change"));
  fail_unless (gst_structure_get_uint64 (structure, "target-bitrate", &rate));
  fail_unless_equals_uint64 (rate, 900000);
  fail_unless (gst_structure_get_uint64 (structure, "estimated-bitrate",
          &rate));
  fail_unless_equals_uint64 (rate, 1000000);
  gst_message_unref (message);
  g_object_set (adapt, "post-messages", FALSE, "stats-update-interval",
      10, NULL);
  wait_until (get_counter ("encoder-bitrate") > 100000);
  message = take_message (GST_MESSAGE_ELEMENT);
  structure = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (structure,
          "application/x-bitrateadapt-stats"));
  fail_unless_equals_string (gst_structure_get_string (structure, "encoder"),
      "enc");
  fail_unless_equals_string (gst_structure_get_string (structure, "estimator"),
      "net");
  fail_unless_equals_string (gst_structure_get_string (structure, "rule"),
      "estimate");
  gst_message_unref (message);
  end ();
}

GST_END_TEST;

static Suite *
bitrateadapt_suite (void)
{
  Suite *s = suite_create ("bitrateadapt");
  TCase *tc = tcase_create ("general");

  register_elements ();
  suite_add_tcase (s, tc);
  tcase_add_test (tc, encoder_gets_the_estimate_less_the_headroom);
  tcase_add_test (tc, rate_has_the_unit_of_the_encoder);
  tcase_add_test (tc, rate_of_v4l2_is_one_of_its_controls);
  tcase_add_test (tc, encoder_is_found_through_other_elements);
  tcase_add_test (tc, encoder_and_estimator_are_found_by_name);
  tcase_add_test (tc, lowest_of_several_estimates_counts);
  tcase_add_test (tc, each_of_two_encoders_follows_its_own_network);
  tcase_add_test (tc, encoder_never_exceeds_the_bitrate_that_it_had);
  tcase_add_test (tc, maximum_of_a_second_run_is_that_of_the_application);
  tcase_add_test (tc, encoder_without_a_bitrate_gets_up_to_6_mbit);
  tcase_add_test (tc, minimum_above_the_maximum_is_a_warning);
  tcase_add_test (tc,
      estimate_of_a_limited_application_does_not_lower_the_rate);
  tcase_add_test (tc, waiting_data_lower_the_rate);
  tcase_add_test (tc, endless_queue_asks_for_the_lowest_rate);
  tcase_add_test (tc, blocked_sink_with_a_queue_lowers_the_rate);
  tcase_add_test (tc, queue_of_another_branch_does_not_count);
  tcase_add_test (tc, queue_before_the_named_estimator_counts);
  tcase_add_test (tc, encoder_follows_while_the_stream_is_blocked);
  tcase_add_test (tc, reserved_bitrate_is_left_to_others);
  tcase_add_test (tc, padding_stops_when_the_estimate_allows_the_maximum);
  tcase_add_test (tc, sink_keeps_its_own_padding);
  tcase_add_test (tc, round_trip_of_srt_decides);
  tcase_add_test (tc, slowest_caller_of_srt_decides);
  tcase_add_test (tc, round_trip_of_rist_decides);
  tcase_add_test (tc, losses_of_rtcp_decide);
  tcase_add_test (tc, loss_asks_for_a_key_frame_once_a_second);
  tcase_add_test (tc, late_packet_asks_for_a_key_frame);
  tcase_add_test (tc, queue_in_the_network_lowers_the_bitrate);
  tcase_add_test (tc, buffer_on_its_way_to_the_sink_is_not_confirmed);
  tcase_add_loop_test (tc, queue_and_losses_of_the_only_path_count, 0,
      G_N_ELEMENTS (path_names));
  tcase_add_test (tc, request_of_the_sink_is_passed_on_unless_one_comes);
  tcase_add_test (tc, no_key_frame_is_asked_for_unless_wanted);
  tcase_add_test (tc, stream_goes_on_without_the_encoder);
  tcase_add_test (tc, new_encoder_gets_the_rate_at_once);
  tcase_add_test (tc, another_sink_decides_from_then_on);
  tcase_add_test (tc,
      encoder_that_forgets_its_rate_with_new_caps_is_told_again);
  tcase_add_test (tc, it_starts_again_and_again);
  tcase_add_test (tc, encoder_that_refuses_is_told_of_once);
  tcase_add_test (tc, encoder_whose_rate_is_fixed_is_an_error);
  tcase_add_test (tc, unknown_encoder_is_an_error);
  tcase_add_test (tc, each_fault_causes_one_warning_and_streams_continue);
  tcase_add_test (tc, one_of_several_encoders_follows_by_name);
  tcase_add_test (tc, changes_and_statistics_are_posted);
  return s;
}

GST_CHECK_MAIN (bitrateadapt);
