import Glibc
import RepriseCore

/// Hears from the system that something became of an interface or of an address (rtnetlink(7)).
final class RouteSocket: Sendable {
  /// What came.
  enum News {
    /// Nothing.
    case none
    /// Something is another, or may be, as not everything that was told found room.
    case changed
    /// Nothing more will come.
    case end
  }

  /// The file descriptor.
  let number: Int32

  /// `sockaddr_nl`, which is not among what Swift has of the system.
  private struct Address {
    var family = UInt16(AF_NETLINK)
    var padding: UInt16 = 0
    var port: UInt32 = 0
    /// What to hear of: `RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV6_IFADDR`.
    var groups: UInt32 = 0x1 | 0x10 | 0x100
  }

  /// Opens the socket; what happens from then on is heard.
  /// - Throws: ``DataClientError`` when the system gives none.
  init() throws(DataClientError) {
    let kind = Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    // NETLINK_ROUTE is 0.
    number = socket(AF_NETLINK, kind, 0)
    guard number >= 0 else { throw Self.error("no socket of the system's news could be made") }
    var address = Address()
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    guard code == 0 else { throw Self.error("the system tells no news of its network") }
  }

  // A socket without a number was never opened.
  deinit { if number >= 0 { close(number) } }

  private static func error(_ what: String) -> DataClientError {
    DataClientError(.transport, "\(what): \(systemText(errno))")
  }

  /// Reads all that came; what it says does not matter, as it is looked at anew.
  func takeNews() -> News {
    var bytes = [UInt8](repeating: 0, count: 16_384)
    var news = News.none
    while true {
      if recv(number, &bytes, bytes.count, 0) >= 0 {
        news = .changed
        continue
      }
      switch errno {
      case EAGAIN, EWOULDBLOCK: return news
      case EINTR: continue
      // News were lost for want of room.
      case ENOBUFS: news = .changed
      default: return .end
      }
    }
  }
}
