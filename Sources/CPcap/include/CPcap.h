#ifndef CPCAP_H
#define CPCAP_H

#include <pcap/pcap.h>

/// What is used of libpcap, of the types that its header declares.
struct cpcap_functions {
  __typeof__(pcap_open_dead) *_Nonnull open_dead;
  __typeof__(pcap_close) *_Nonnull close;
  __typeof__(pcap_compile) *_Nonnull compile;
  __typeof__(pcap_geterr) *_Nonnull geterr;
  __typeof__(pcap_freecode) *_Nonnull freecode;
  __typeof__(pcap_offline_filter) *_Nonnull offline_filter;
  __typeof__(pcap_findalldevs) *_Nonnull findalldevs;
  __typeof__(pcap_freealldevs) *_Nonnull freealldevs;
  __typeof__(pcap_create) *_Nonnull create;
  __typeof__(pcap_set_snaplen) *_Nonnull set_snaplen;
  __typeof__(pcap_set_promisc) *_Nonnull set_promisc;
  __typeof__(pcap_set_timeout) *_Nonnull set_timeout;
  __typeof__(pcap_set_buffer_size) *_Nonnull set_buffer_size;
  __typeof__(pcap_set_tstamp_precision) *_Nonnull set_tstamp_precision;
  __typeof__(pcap_get_tstamp_precision) *_Nonnull get_tstamp_precision;
  __typeof__(pcap_activate) *_Nonnull activate;
  __typeof__(pcap_statustostr) *_Nonnull statustostr;
  __typeof__(pcap_datalink) *_Nonnull datalink;
  __typeof__(pcap_snapshot) *_Nonnull snapshot;
  __typeof__(pcap_setnonblock) *_Nonnull setnonblock;
  __typeof__(pcap_setfilter) *_Nonnull setfilter;
  __typeof__(pcap_get_selectable_fd) *_Nonnull get_selectable_fd;
  __typeof__(pcap_dispatch) *_Nonnull dispatch;
  __typeof__(pcap_stats) *_Nonnull stats;
  __typeof__(pcap_lib_version) *_Nonnull lib_version;
};

/// Returns libpcap's functions, for which it is loaded the first time; NULL where there is no libpcap.
const struct cpcap_functions *_Nullable cpcap_load(void);

#endif
