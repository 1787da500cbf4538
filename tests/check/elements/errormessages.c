/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the error messages for wrong pipelines. A message must say what
 * failed, on what, why, and what to do. The test starts each pipeline of the
 * table, and compares the text of its first error or warning with the text in
 * the table.
 *
 * Some words of a message come from the system or from GLib. In the table, a
 * "*" stands for these words and matches any text.
 */

#include <gst/check/gstcheck.h>

#define TIMEOUT (60 * GST_SECOND)

static const struct
{
  const gchar *pipeline;
  const gchar *message;
} cases[] = {
  /* *INDENT-OFF* */
  { "dcctpthinsrc address=192.0.2.1 ! fakesink",
      "Could not listen for DCCP on 192.0.2.1, port 5004: 192.0.2.1:5004 is "
        "not an address of this host: Cannot assign requested address. Set "
        "one of the addresses that \"ip address\" lists." },
  { "dcctpthinsrc address=nonsense ! fakesink",
      "Could not listen for DCCP on nonsense, port 5004: Error resolving "
        "*. Check *, or set an IP address." },
  { "dcctpthinsrc allowed-senders=, ! fakesink",
      "Could not use allowed-senders: \"\" is neither an IP address nor a "
        "prefix such as 192.0.2.0/24 or 2001:db8::/32 (Could not parse * "
        "as IP address mask). Separate addresses and prefixes by commas, or "
        "leave the property unset to allow all senders." },
  { "dcctpthinsrc mode=caller host=127.0.0.1 port=5 "
        "peer-timeout=1000 ! fakesink",
      "Could not connect to 127.0.0.1:5: the peer returned an ICMP error: "
        "Connection refused. Start the peer first, or check the host and the "
        "port." },
  { "dcctpthinsrc mode=caller host=tv.example.invalid ! fakesink",
      "Could not connect to tv.example.invalid:5004: Error resolving *. "
        "Check *, or set an IP address." },
  { "dcctpthinsrc port=47113 ! fakesink dcctpthinsrc port=47113 ! "
        "fakesink",
      "Could not listen for DCCP on 0.0.0.0, port 47113: could not bind "
        "to 0.0.0.0:47113: Address already in use. Stop the program that "
        "uses this port, or choose another port." },
  { "dcctpthinsrc service-code=toolong ! fakesink",
      "Could not listen for DCCP on 0.0.0.0, port 5004: \"toolong\" is not a "
        "service code: set at most four characters, such as RTPV, or SC= and a "
        "decimal number, or SC=x and a hexadecimal number." },
  { "fakesrc num-buffers=1 ! dcctpthinsink bind-address=192.0.2.1 "
        "auto-reconnect=false",
      "Could not connect to localhost:5004: 192.0.2.1 is not an address of "
        "this host: Cannot assign requested address. Set one of the addresses "
        "that \"ip address\" lists." },
  { "fakesrc num-buffers=1 ! dcctpthinsink host=127.0.0.1 port=5 "
        "auto-reconnect=false",
      "Could not connect to 127.0.0.1:5: the peer returned an ICMP error: "
        "Connection refused. Start the peer first, or check the host and the "
        "port." },
  { "fakesrc num-buffers=1 ! dcctpthinsink host=tv.example.invalid",
      "Could not find tv.example.invalid:5004: Error resolving *. Check "
        "*, or set an IP address." },
  { "udpsrc address=127.0.0.1 port=47117 "
        "! ifdsink host=127.0.0.1 port=1",
      "Could not connect to 127.0.0.1:1: Connection refused. Start the peer "
        "first, or check the host and the port. This element tries again." },
  { "fakesrc num-buffers=1 ! mmtpsink bonding-addresses=nonsense",
      "Could not use the settings of the connection to localhost:5004: "
        "\"nonsense\" has no port: write each bonding address as host:port." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=\"\\,\\,\"",
      "Could not use the settings of the connection to localhost:5004: a "
        "channel of \",,\" is empty: remove a comma." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=lo->",
      "Could not use the settings of the connection to localhost:5004: the "
        "receiver \"\" has no host: write host or host:port." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=lo->host:99999",
      "Could not use the settings of the connection to localhost:5004: "
        "\"99999\" in \"host:99999\" is not a port: set a number from 1 to "
        "65535." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=127.0.0.1/rate=x",
      "Could not use the settings of the connection to localhost:5004: "
        "\"127.0.0.1/rate=x\" is neither an IP address nor the name of an "
        "interface (1 to 15 bytes). Write the receiver after ->, as in "
        "wlan0->host:5004." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=192.0.2.1",
      "Could not connect to localhost:5004: 192.0.2.1 is not an address of "
        "this host: Cannot assign requested address. Set one of the addresses "
        "that \"ip address\" lists. This element tries again." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=lo,lo",
      "Could not use the settings of the connection to localhost:5004: the "
        "channel \"lo\" is in the list twice. If two channels are meant, give "
        "them different names with ?name=." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=lo:999999",
      "Could not use the settings of the connection to localhost:5004: "
        "\"999999\" in \"lo:999999\" is not a port: set a number from 0 to "
        "65535." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=lo?delay=x",
      "Could not use the settings of the connection to localhost:5004: "
        "\"delay=x\" is not valid: set a number from 0 to 60000 (ms)." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=lo?nonsense=3",
      "Could not use the settings of the connection to localhost:5004: "
        "\"nonsense\" is not an option of a channel: the options are rate, "
        "delay, mtu and name." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=lo?rate=fast",
      "Could not use the settings of the connection to localhost:5004: "
        "\"rate=fast\" is not valid: set a number from 0 to 34359738360 (bits "
        "per second)." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=nonsense",
      "Could not use channels: there is no network interface \"nonsense\". "
        "Set one of the interfaces that \"ip link\" lists." },
  { "fakesrc num-buffers=1 ! mmtpsink channels=nothere0",
      "Could not use channels: there is no network interface \"nothere0\". "
        "Set one of the interfaces that \"ip link\" lists." },
  { "fakesrc num-buffers=1 ! mmtpsink host=127.0.0.1 port=5 "
        "auto-reconnect=false peer-timeout=1000",
      "Could not connect to 127.0.0.1:5: Connection refused. Start the peer "
        "first, or check the host and the port." },
  { "fakesrc num-buffers=1 ! mmtpsink host=127.0.0.1:5006",
      "Could not use the settings of the connection to *: the host "
        "\"127.0.0.1:5006\" contains a port. Set host=127.0.0.1 and "
        "port=5006." },
  { "fakesrc num-buffers=1 ! mmtpsink initial-delay=2000",
      "initial-delay is 2000 ms, but its maximum is latency, which is 1000 ms: "
        "1000 ms is used. Raise latency, or lower initial-delay." },
  { "fakesrc num-buffers=1 ! mmtpsink key=12",
      "Could not use the key: the property key is too short: it takes an even "
        "number of hexadecimal digits, at least 32 (128 random bits). Make a "
        "key with \"openssl rand -hex 32\" and set the same key at both ends, "
        "or leave the property unset for no authentication." },
  { "fakesrc num-buffers=1 ! mmtpsink "
        "key=123456789012345678901234567890123",
      "Could not use the key: the property key has an odd number of digits: it "
        "takes an even number of hexadecimal digits, at least 32 (128 random "
        "bits). Make a key with \"openssl rand -hex 32\" and set the same key "
        "at both ends, or leave the property unset for no authentication." },
  { "fakesrc num-buffers=1 ! mmtpsink key=zz",
      "Could not use the key: the property key has characters other than "
        "hexadecimal digits: it takes an even number of hexadecimal digits, at "
        "least 32 (128 random bits). Make a key with \"openssl rand -hex 32\" "
        "and set the same key at both ends, or leave the property unset for no "
        "authentication." },
  { "fakesrc num-buffers=1 ! mmtpsink uri=mmtp://127.0.0.1:5000?key=00",
      "Could not use the URI: The URI has the key \"key\", a property "
        "that only the application may set. mmtpsink takes these keys from "
        "a URI: *." },
  { "fakesrc num-buffers=1 ! mpegstat location=/nothere/x ! fakesink",
      "Could not open the log \"/nothere/x\" for writing: No such file or "
        "directory. Set location to a file in a directory that exists and "
        "may be written to." },
  { "fakesrc num-buffers=1 ! tunsink address=10.0.0.1",
      "Could not use the property address: \"10.0.0.1\" has no prefix "
        "length, as in 10.0.0.1/24. Set one or more addresses with prefix "
        "lengths, such as 10.0.0.1/24,fd00::1/64." },
  { "fakesrc num-buffers=1 ! tunsink address=10.0.0.1/33",
      "Could not use the property address: \"10.0.0.1/33\" has no prefix "
        "length from 0 to 32: Number *33* is out of bounds [0, 32]. Set one "
        "or more addresses with prefix lengths, such as "
        "10.0.0.1/24,fd00::1/64." },
  { "fakesrc num-buffers=1 ! tunsink address=nonsense",
      "Could not use the property address: \"nonsense\" is not an IPv4 or "
        "IPv6 address. Set one or more addresses with prefix lengths, such "
        "as 10.0.0.1/24,fd00::1/64." },
  { "fakesrc num-buffers=1 ! tunsink ifname=a%s",
      "Could not use the ifname \"a%s\": only a single %d is allowed, which "
        "is replaced by a free number. Set a name such as wl%d or wl0." },
  { "fakesrc num-buffers=1 ! tunsink ifname=verylongdevicename0123",
      "Could not use the ifname \"verylongdevicename0123\": it has 22 "
        "characters, but the name of a device has at most 15. Set a shorter "
        "name, such as wl0." },
  { "fakesrc num-buffers=1 ! tunsink netns=/nothere/x",
      "Could not open the network namespace \"/nothere/x\": No such file or "
        "directory (errno 2). Set the name of a namespace, the path of its "
        "file, or a process ID." },
  { "fakesrc num-buffers=1 ! udplitesink coverage-mode=fixed "
        "checksum-coverage=3",
      "checksum-coverage is 3 bytes, but the checksum always covers the "
        "UDP-Lite header of 8 bytes: 8 is used. Set 0 for the whole packet, "
        "or at least 8." },
  { "fakesrc num-buffers=1 ! udplitesink clients=nonsense:1",
      "Could not find nonsense:1: Error resolving *. Check *, or set an "
        "IP address." },
  { "fakesrc num-buffers=1 ! udplitesink host=127.0.0.1 "
        "bind-address=192.0.2.1",
      "Could not connect to 127.0.0.1:5004: 192.0.2.1 is not an address of "
        "this host: Cannot assign requested address. Set one of the addresses "
        "that \"ip address\" lists. This element tries again." },
  { "fakesrc num-buffers=1 ! udplitesink host=127.0.0.1 bind-address=::1",
      "Could not use the settings of the connection to 127.0.0.1:5004: "
        "bind-address \"::1\" is not of the address family of the receiver, "
        "IPv4. Set an address of this host from this family, or leave the "
        "property unset." },
  { "fakesrc num-buffers=1 ! udplitesink host=127.0.0.1 "
        "bind-address=nonsense",
      "Could not use the settings of the connection to 127.0.0.1:5004: "
        "bind-address \"nonsense\" is not an IP address. Set an address of "
        "this host, or leave the property unset." },
  { "fakesrc num-buffers=1 ! udplitesink host=127.0.0.1 "
        "multicast-iface=nothere0",
      "There is no network interface \"nothere0\" for multicast-iface: the "
        "routing table chooses the interface instead. Set one of the "
        "interfaces that \"ip link\" lists." },
  { "fakesrc num-buffers=1 ! udplitesink "
        "uri=\"udplite://127.0.0.1:5?coverage=9999999999\"",
      "Could not use the URI: The URI has the key \"coverage\", which is "
        "not known. udplitesink takes these keys from a URI: *." },
  { "fakesrc num-buffers=1 ! udplitesink uri=http://a:1",
      "Could not use the URI: The scheme of \"http://a:1\" is not supported: "
        "use udplite://." },
  { "fakesrc num-buffers=1 ! udplitesink "
        "uri=udplite://127.0.0.1:5?nonsense=3",
      "Could not use the URI: The URI has the key \"nonsense\", which is "
        "not known. udplitesink takes these keys from a URI: *." },
  { "fakesrc num-buffers=1 ! udplitesink uri=udplite://host:port",
      "Could not use the URI: \"udplite://host:port\" is not of the form "
        "udplite://host:port with a number as the port, such as "
        "udplite://127.0.0.1:5004." },
  { "fakesrc num-buffers=1 ! wirelesslink burst=3000 ! fakesink",
      "Could not use the settings of wirelesslink0: burst is 3000 bytes, but "
        "rate is 0: set rate, because a token bucket needs a rate." },
  { "fakesrc num-buffers=1 ! wirelesslink delivery-trace=/dev/null ! "
        "fakesink",
      "Could not use the settings of wirelesslink0: delivery-trace "
        "\"/dev/null\": the delivery trace has no time after 0 ms: add a line "
        "with a later time." },
  { "fakesrc num-buffers=1 ! wirelesslink delivery-trace=/proc/version "
        "! fakesink",
      "Could not use the settings of wirelesslink0: delivery-trace "
        "\"/proc/version\": line 1 of the delivery trace is \"*\", not a time "
        "in ms such as 120. Correct the line, or set another file." },
  { "fakesrc num-buffers=1 ! wirelesslink delivery-trace=/nothere ! "
        "fakesink",
      "Could not use a file of wirelesslink0: delivery-trace: could not read "
        "the file \"/nothere\": No such file or directory. Set a file that "
        "exists and may be read." },
  { "fakesrc num-buffers=1 ! wirelesslink interference=20-10 "
        "profile=80211b ! fakesink",
      "Could not use the settings of wirelesslink0: interference \"20-10\" is "
        "not valid: set \"none\", \"always\", or up to 16 windows in seconds "
        "and in ascending order, such as \"20-40,50.5-60\"." },
  { "fakesrc num-buffers=1 ! wirelesslink location=/nothere/x ! fakesink",
      "Could not use a file of wirelesslink0: could not open the log "
        "\"/nothere/x\" for writing: No such file or directory. Set a file "
        "in a directory that exists and may be written to." },
  { "fakesrc num-buffers=1 ! wirelesslink mode=timestamp ! fakesink",
      "A packet arrived without a timestamp, but mode=timestamp needs "
        "timestamps. Put an element upstream that sets timestamps, or set "
        "another mode." },
  { "fakesrc num-buffers=1 ! wirelesslink oven-on=30000000 ! fakesink",
      "Could not use the settings of wirelesslink0: oven-on is 30000000: "
        "set it to a value from 0 to 20000000." },
  { "fakesrc num-buffers=1 ! wirelesslink pattern=/dev/null ! fakesink",
      "Could not use the settings of wirelesslink0: pattern \"/dev/null\": the "
        "pattern is empty: set a file that was written with record-pattern." },
  { "fakesrc num-buffers=1 ! wirelesslink pattern=/proc/version ! "
        "fakesink",
      "Could not use the settings of wirelesslink0: pattern "
        "\"/proc/version\": line 1 of the pattern is malformed: \"*\". "
        "Set a file that was written with record-pattern, or correct the line "
        "as docs/wirelesslink.md describes." },
  { "fakesrc num-buffers=1 ! wirelesslink profile=80211b dial-up=true ! "
        "fakesink",
      "Could not use the settings of wirelesslink0: dial-up works with "
        "profiles of telephone networks, and 802.11 has no calls: set "
        "dial-up=false or choose another profile." },
  { "fakesrc num-buffers=1 ! wirelesslink profile=80211b "
        "max-rate=3000000 ! fakesink",
      "Could not use the settings of wirelesslink0: max-rate is 3000000 "
        "bit/s: set one of the rates of the profile, 1000000 2000000 "
        "5500000 11000000." },
  { "fakesrc num-buffers=1 ! wirelesslink profile=cellular burst=3000 ! "
        "fakesink",
      "Could not use the settings of wirelesslink0: burst needs a fixed "
        "rate: set burst to 0 with a delivery trace or with cellular-rate." },
  { "fakesrc num-buffers=1 ! wirelesslink profile=cellular "
        "cellular-rate=20000000 ! fakesink",
      "Could not use the settings of wirelesslink0: cellular-rate is 20000000: "
        "set it to a value from 2025000 to 11475000. These limits follow from "
        "cellular-min-rate, cellular-max-rate and the share of the time "
        "without outages." },
  { "fakesrc num-buffers=1 ! wirelesslink profile=gsm "
        "block-trace=/proc/version ! fakesink",
      "Could not use the settings of wirelesslink0: block-trace "
        "\"/proc/version\": line 1 of the block trace has the byte 0x4c: only "
        "\"0\", \"1\", blanks and comments that begin with \"#\" are "
        "allowed. Correct the line, or set another file." },
  { "fakesrc num-buffers=1 ! wirelesslink profile=trace ! fakesink",
      "Could not use the settings of wirelesslink0: profile=trace needs a "
        "delivery trace: set delivery-trace to its file." },
  { "fakesrc num-buffers=3 ! rfc2250depay ! fakesink",
      "rfc2250depay0 takes RTP packets, but its input is a stream of bytes. "
        "Set the caps of the element that receives the packets, such as udpsrc "
        "caps=\"application/x-rtp, media=video, clock-rate=90000, "
        "encoding-name=MPV, payload=32\". Video that is not in RTP needs no "
        "depayloader." },
  { "fakesrc num-buffers=3000 sizetype=fixed sizemax=4096 "
        "filltype=zero ! ifdqueue ! fakesink",
      "No MPEG-1 or MPEG-2 video frame in 12288000 bytes: ifdqueue0 takes a "
        "video elementary stream. If the video is in a container, put its "
        "demuxer upstream, such as mpegpsdemux; for another codec, put its "
        "parser upstream." },
  { "fakesrc num-buffers=3000 sizetype=fixed sizemax=4096 "
        "filltype=zero ! mpegstat ! fakesink",
      "No MPEG-1 or MPEG-2 video frame in 12288000 bytes: mpegstat0 takes a "
        "video elementary stream. If the video is in a container, put its "
        "demuxer upstream, such as mpegpsdemux; for another codec, put its "
        "parser upstream." },
  { "mmtpsrc address=192.0.2.1 ! fakesink",
      "Could not listen for MMTP on 192.0.2.1, port 5004: 192.0.2.1:5004 is "
        "not an address of this host: Cannot assign requested address. Set "
        "one of the addresses that \"ip address\" lists." },
  { "mmtpsrc address=nonsense ! fakesink",
      "Could not listen for MMTP on nonsense, port 5004: Error resolving "
        "*. Check *, or set an IP address." },
  { "mmtpsrc allowed-senders=x/1 ! fakesink",
      "Could not use allowed-senders: \"x/1\" is neither an IP address "
        "nor a prefix such as 192.0.2.0/24 or 2001:db8::/32 (Could not "
        "parse *x/1* as IP address mask). Separate addresses and prefixes "
        "by commas, or leave the property unset to allow all senders." },
  { "mmtpsrc interface=nothere0 ! fakesink",
      "Could not listen for MMTP on 0.0.0.0, port 5004: there is no network "
        "interface \"nothere0\". Set one of the interfaces that \"ip link\" "
        "lists." },
  { "mmtpsrc port=47113 ! fakesink mmtpsrc port=47113 ! fakesink",
      "Could not listen for MMTP on 0.0.0.0, port 47113: could not bind "
        "to 0.0.0.0:47113: Address already in use. Stop the program that "
        "uses this port, or choose another port." },
  { "mmtpsrc uri=mmtp://127.0.0.1:99999 ! fakesink",
      "Could not use the URI: \"mmtp://127.0.0.1:99999\" has the port "
        "99999: a port is from 1 to 65535." },
  { "tunsrc ifname=a/b ! fakesink",
      "Could not use the ifname \"a/b\": slashes, colons, blanks, \".\" and "
        "\"..\" are not allowed. Set a name such as wl%d or wl0." },
  { "udplitesrc address=192.0.2.1 port=5004 ! fakesink",
      "Could not receive UDP-Lite on 192.0.2.1 port 5004: 192.0.2.1:5004 is "
        "not an address of this host: Cannot assign requested address. Set "
        "one of the addresses that \"ip address\" lists." },
  { "udplitesrc address=239.1.1.1 multicast-iface=nothere0 ! fakesink",
      "Could not receive UDP-Lite on 239.1.1.1 port 5004: there is no network "
        "interface \"nothere0\". Set one of the interfaces that \"ip link\" "
        "lists." },
  { "udplitesrc address=tv.example.invalid ! fakesink",
      "Could not receive UDP-Lite on tv.example.invalid port 5004: Error "
        "resolving *. Check *, or set an IP address." },
  { "udplitesrc allowed-senders=1.2.3.4/99 ! fakesink",
      "Could not use allowed-senders: \"1.2.3.4/99\" is neither an IP "
        "address nor a prefix such as 192.0.2.0/24 or 2001:db8::/32 (Length "
        "99 is too long for address). Separate addresses and prefixes by "
        "commas, or leave the property unset to allow all senders." },
  { "udplitesrc allowed-senders=x ! fakesink",
      "Could not use allowed-senders: \"x\" is neither an IP address nor "
        "a prefix such as 192.0.2.0/24 or 2001:db8::/32 (Could not parse "
        "*x* as IP address mask). Separate addresses and prefixes by "
        "commas, or leave the property unset to allow all senders." },
  { "udplitesrc backend=udp port=5004 reuse=false ! fakesink udplitesrc "
        "backend=udp port=5004 reuse=false ! fakesink",
      "Could not receive UDP-Lite on 0.0.0.0 port 5004: could not bind to "
        "0.0.0.0:5004: Address already in use. Stop the program that uses "
        "this port, or choose another port." },
  { "udplitesrc multicast-source=x address=239.1.1.1 ! fakesink",
      "Could not receive UDP-Lite on 239.1.1.1 port 5004: \"x\" in "
        "multicast-source is not an IP address. Set a list such as "
        "+192.0.2.1+192.0.2.2." },
  { "udplitesrc uri=udp://127.0.0.1:5 ! fakesink",
      "Could not use the URI: The scheme of \"udp://127.0.0.1:5\" is not "
        "supported: use udplite://." },
  { "fakesrc num-buffers=3000 sizetype=fixed sizemax=4096 "
        "filltype=zero ! rfc2250pay ! fakesink",
      "No MPEG-1 or MPEG-2 video frame in 12288000 bytes: rfc2250pay0 takes a "
        "video elementary stream. If the video is in a container, put its "
        "demuxer upstream, such as mpegpsdemux; for another codec, put its "
        "parser upstream." },
  { "fakesrc num-buffers=1 ! "
        "video/x-h264,stream-format=avc,alignment=au ! mpegstat ! fakesink",
      "mpegstat0 can't read this H.264 stream: its codec_data is missing "
        "or malformed. Put h264parse upstream." },
  { "fakesrc num-buffers=1 ! "
        "video/x-h264,stream-format=avc,alignment=au ! ifdqueue ! fakesink",
      "ifdqueue0 takes whole frames, not H.264 without valid codec_data: put "
        "h264parse upstream." },
  { "fakesrc num-buffers=1 ! "
        "video/x-h264,stream-format=byte-stream,alignment=nal ! ifdqueue ! "
        "fakesink",
      "ifdqueue0 takes whole frames, not H.264 with alignment=nal: put "
        "h264parse upstream, and set alignment=au." },
  { "fakesrc num-buffers=1 ! application/x-rtp,encoding-name=H264 ! "
        "ifdqueue ! fakesink",
      "ifdqueue0 takes whole frames, not RTP packets: put ifdqueue upstream of "
        "the payloader: ... ! ifdqueue ! rtph264pay ! udpsink." },
  { "fakesrc num-buffers=1 ! "
        "video/mpegts,systemstream=true,packetsize=192 ! ifdqueue ! fakesink",
      "ifdqueue0 takes whole frames, not this form of MPEG transport stream: "
        "put tsparse upstream." },
  { "fakesrc num-buffers=1 ! video/mpegts,systemstream=true ! ifdqueue ! "
        "video/mpeg ! fakesink",
      "ifdqueue0 takes whole frames, not an MPEG transport stream: to send the "
        "whole transport stream, use mmtpsink or dccpthinsink instead; to send "
        "only its video, put tsdemux upstream." },
  { "fakesrc num-buffers=1 sizetype=fixed sizemax=9000 filltype=zero ! "
        "dcctpthinsink host=127.0.0.1",
      "Could not connect to 127.0.0.1:5004: the peer returned an ICMP error: "
        "Connection refused. Start the peer first, or check the host and the "
        "port. This element tries again." },
  /* *INDENT-ON* */
};

static gchar *
pop_text (GstBus * bus)
{
  GstMessage *message = gst_bus_timed_pop_filtered (bus, TIMEOUT,
      GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_EOS);
  GError *error = NULL;
  gchar *text;

  fail_unless (message != NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error ? error->message : "no message");
  g_clear_error (&error);
  gst_message_unref (message);
  return text;
}

GST_START_TEST (message_says_what_failed_and_what_to_do)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (cases[__i__].pipeline, &error);
  GstBus *bus;
  gchar *text;

  g_assert_no_error (error);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  text = pop_text (bus);
  fail_unless (g_pattern_match_simple (cases[__i__].message, text),
      "%s\nposts: %s\n  not: %s", cases[__i__].pipeline, text,
      cases[__i__].message);
  g_free (text);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
errormessages_suite (void)
{
  Suite *s = suite_create ("errormessages");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, message_says_what_failed_and_what_to_do, 0,
      G_N_ELEMENTS (cases));
  return s;
}

GST_CHECK_MAIN (errormessages);
