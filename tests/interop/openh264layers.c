/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encodes pictures as H.264 with temporal layers. The encoder is OpenH264,
 * because no GStreamer encoder of H.264 makes temporal layers without delay.
 *
 *   openh264layers WIDTH HEIGHT FPS KBPS LAYERS GOP <PICTURES >STREAM
 *
 * PICTURES are raw pictures in I420. STREAM is an Annex B byte stream. Each
 * access unit begins with an access unit delimiter. Without it, the parser of
 * ffmpeg would take a prefix NAL unit for the end of the previous access unit.
 * LAYERS is from 1 to 4. Every GOP-th picture is an IDR picture.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wels/codec_api.h>

#define N_ARGUMENTS 6
/* An access unit delimiter. It is a NAL unit of type 9, whose field
 * primary_pic_type allows every type of picture (H.264, 7.3.2.4). */
static const unsigned char delimiter[] = { 0, 0, 0, 1, 9, 0xf0 };

typedef struct
{
  int width, height, fps, kbps, layers, gop;
} Options;

static void
fail (const char *words, int value)
{
  fprintf (stderr, "openh264layers: %s: %d\n", words, value);
  exit (1);
}

static ISVCEncoder *
create_encoder (const Options * options)
{
  ISVCEncoder *encoder = NULL;
  SEncParamExt params;
  SSpatialLayerConfig *layer = &params.sSpatialLayers[0];
  int result = WelsCreateSVCEncoder (&encoder);

  if (result)
    fail ("could not create an encoder", result);
  (*encoder)->GetDefaultParams (encoder, &params);
  params.iUsageType = CAMERA_VIDEO_REAL_TIME;
  params.iPicWidth = options->width;
  params.iPicHeight = options->height;
  params.fMaxFrameRate = options->fps;
  params.iTargetBitrate = 1000 * options->kbps;
  params.iMaxBitrate = UNSPECIFIED_BIT_RATE;
  params.iRCMode = RC_BITRATE_MODE;
  /* The test needs every picture. Frame skipping is switched off, because the
   * encoder would otherwise leave out pictures to keep its bitrate. */
  params.bEnableFrameSkip = false;
  params.iTemporalLayerNum = options->layers;
  params.uiIntraPeriod = options->gop;
  params.bPrefixNalAddingCtrl = options->layers > 1;
  params.eSpsPpsIdStrategy = CONSTANT_ID;
  params.iEntropyCodingModeFlag = 1;
  params.bEnableSceneChangeDetect = false;
  params.iMultipleThreadIdc = 1;
  layer->iVideoWidth = options->width;
  layer->iVideoHeight = options->height;
  layer->fFrameRate = options->fps;
  layer->iSpatialBitrate = params.iTargetBitrate;
  layer->iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE;
  layer->uiProfileIdc = PRO_HIGH;
  result = (*encoder)->InitializeExt (encoder, &params);
  if (result)
    fail ("OpenH264 refused the options", result);
  return encoder;
}

static void
write_access_unit (const SFrameBSInfo * info)
{
  int i, k;

  fwrite (delimiter, sizeof delimiter, 1, stdout);
  for (i = 0; i < info->iLayerNum; i++) {
    const SLayerBSInfo *layer = &info->sLayerInfo[i];
    size_t size = 0;

    for (k = 0; k < layer->iNalCount; k++)
      size += layer->pNalLengthInByte[k];
    fwrite (layer->pBsBuf, size, 1, stdout);
  }
}

static void
encode (ISVCEncoder * encoder, const Options * options)
{
  size_t luma = (size_t) options->width * options->height;
  size_t size = luma + 2 * (luma / 4);
  unsigned char *picture = malloc (size);
  long number;

  for (number = 0; fread (picture, size, 1, stdin) == 1; number++) {
    SSourcePicture source = {
      .iColorFormat = videoFormatI420,
      .iStride = {options->width, options->width / 2, options->width / 2},
      .pData = {picture, picture + luma, picture + luma + luma / 4},
      .iPicWidth = options->width,
      .iPicHeight = options->height,
      .uiTimeStamp = 1000 * number / options->fps,
    };
    SFrameBSInfo info;
    int result;

    memset (&info, 0, sizeof info);
    result = (*encoder)->EncodeFrame (encoder, &source, &info);
    if (result || info.eFrameType == videoFrameTypeSkip)
      fail ("OpenH264 made no frame of a picture", result);
    write_access_unit (&info);
  }
  free (picture);
}

int
main (int argc, char **argv)
{
  int values[N_ARGUMENTS];
  ISVCEncoder *encoder;
  Options options;
  int i;

  if (argc != N_ARGUMENTS + 1)
    fail ("needs six arguments, but got", argc - 1);
  for (i = 0; i < N_ARGUMENTS; i++) {
    values[i] = atoi (argv[i + 1]);
    if (values[i] <= 0)
      fail ("an argument is no number above 0, its place is", i + 1);
  }
  options = (Options) {
  values[0], values[1], values[2], values[3], values[4], values[5]};
  encoder = create_encoder (&options);
  encode (encoder, &options);
  (*encoder)->Uninitialize (encoder);
  WelsDestroySVCEncoder (encoder);
  if (fflush (stdout) || ferror (stdout))
    fail ("could not write the stream", 0);
  return 0;
}
