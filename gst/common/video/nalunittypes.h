/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of the NAL unit type of H.264 and H.265. They show how important the
 * picture in the NAL unit is. */

#pragma once

/* Bit masks of the fields in the first byte of an H.264 NAL unit (ISO/IEC
 * 14496-10, 7.3.1) */
#define H264_REF_IDC 0x60       /* nal_ref_idc */
#define H264_TYPE 0x1f          /* nal_unit_type */

/* Values of nal_unit_type in H.264: ISO/IEC 14496-10, table 7-1 */
#define H264_SLICE_FIRST 1
#define H264_PARTITION_A 2
/* Highest type of a slice in a non-IDR picture. All types from 1 to this one
 * are slices or data partitions of non-IDR pictures. */
#define H264_PARTITION_C 4
#define H264_IDR 5              /* the last slice type */
#define H264_SEI 6
#define H264_SPS 7
#define H264_PPS 8
#define H264_DELIMITER 9
/* The types from H264_SEI to H264_SPS_EXTENSION are NAL units without picture
 * data, such as parameter sets and delimiters. */
#define H264_SPS_EXTENSION 13
/* NAL unit that precedes a slice and gives more information about it (G.7.3.1.1
 * of H.264) */
#define H264_PREFIX 14
#define H264_SUBSET_SPS 15
/* Slices of the additional layers of scalable video (SVC) and of the additional
 * views of multiview video (MVC) */
#define H264_SLICE_EXTENSION 20
#define H264_SLICE_DEPTH 21

/* RFC 6184, table 1: types of RTP payloads */
#define H264_STAP_A 24
#define H264_STAP_B 25
#define H264_FU_A 28
#define H264_FU_B 29

/* ISO/IEC 23008-2, table 7-1: nal_unit_type */
/* The types from 0 to this one belong to pictures that are not random access
 * points. An even type stands for a sub-layer non-reference picture: no other
 * picture of the same temporal sub-layer refers to it. */
#define H265_SUB_LAYER_LAST 15
/* Temporal sub-layer access (TSA) picture: at this picture, a decoder that has
 * decoded only the lower temporal sub-layers can begin to decode this
 * sub-layer. */
#define H265_TSA_N 2
#define H265_TSA_R 3
#define H265_STSA_R 5
#define H265_RADL_N 6           /* first type of a leading picture */
#define H265_RASL_N 8
#define H265_RASL_R 9
/* Lowest type of a BLA (broken link access) picture. It is also the lowest type
 * of all IRAP pictures (intra random access points). */
#define H265_BLA_FIRST 16
#define H265_BLA_LAST 18
#define H265_IDR_LAST 20
/* Highest type that the standard reserves for IRAP pictures (intra random
 * access points). Of these types, 16 to 21 are in use; 21 is a CRA picture. */
#define H265_IRAP_LAST 23
#define H265_VCL_LAST 31
#define H265_VPS 32
#define H265_SPS 33
#define H265_PPS 34
#define H265_DELIMITER 35
#define H265_PREFIX_SEI 39
/* suffix SEI message; the highest type that the standard defines for a NAL unit
 * without picture data */
#define H265_SUFFIX_SEI 40

/* RFC 7798, 4.4: types of RTP payloads */
#define H265_AP 48
#define H265_FU 49
