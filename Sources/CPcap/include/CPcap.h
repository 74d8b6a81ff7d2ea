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
};

/// Returns libpcap's functions, for which it is loaded the first time; NULL where there is no libpcap.
const struct cpcap_functions *_Nullable cpcap_load(void);

#endif
