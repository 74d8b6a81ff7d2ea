import Glibc

/// Addresses of the internet as text.
enum IPText {
  /// Whether a text is an address of IPv4 or IPv6, and no name.
  static func isAddress(_ text: String) -> Bool {
    var bytes = in6_addr()
    return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
  }
}
