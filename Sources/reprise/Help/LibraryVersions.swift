import CCrypto
import CMosquitto
import CPcap
import CWebSockets
import CZlib
import Glibc

/// What the command runs on, for `reprise --version --verbose`: what a report of a fault should say.
enum LibraryVersions {
  /// A line for each library as it is loaded, and one for the system.
  static var text: String {
    let lines = [
      "libmosquitto \(mosquitto)", "libwebsockets \(webSockets)",
      string(OpenSSL_version(OPENSSL_VERSION)), "zlib \(string(zlibVersion()))", pcap,
      "\(libc), \(system)",
    ]
    return lines.map { $0 + "\n" }.joined()
  }

  private static func string(_ text: UnsafePointer<CChar>?) -> String {
    text.map { String(cString: $0) } ?? "of a version that is not known"
  }

  private static var mosquitto: String {
    var (major, minor, revision): (CInt, CInt, CInt) = (0, 0, 0)
    mosquitto_lib_version(&major, &minor, &revision)
    return "\(major).\(minor).\(revision)"
  }

  /// Behind the number stands what it was built of, which may be nothing.
  private static var webSockets: String {
    let text = string(lws_get_library_version())
    return text.last == "-" ? String(text.dropLast()) : text
  }

  /// It is loaded where it is needed only.
  private static var pcap: String {
    guard let functions = cpcap_load() else {
      return "libpcap is not installed: --bpf and --interface need it"
    }
    return string(functions.pointee.lib_version()).replacing("libpcap version", with: "libpcap")
  }

  private static var libc: String {
    var text = [CChar](repeating: 0, count: 64)
    let length = confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count)
    return (1...text.count).contains(length) ? string(text) : "a C library that does not tell"
  }

  private static var system: String {
    var names = utsname()
    guard uname(&names) == 0 else { return "Linux" }
    func text<Field>(_ field: Field) -> String {
      withUnsafeBytes(of: field) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
    }
    return [text(names.sysname), text(names.release), text(names.machine)].joined(separator: " ")
  }
}
