import CCrypto
import CPages

/// The files that the page of a session is made of.
enum PageFiles {
  /// The start of the page, up to its data.
  static var opening: String {
    let (head, _) = parts
    return head.replacing("<!-- policy -->", with: policy)
      .replacing("<!-- style -->", with: text(page_session_css()))
  }

  /// The end of the page, behind its data.
  static var closing: String {
    let (_, tail) = parts
    return tail.replacing("<!-- script -->", with: script)
  }

  private static var parts: (head: String, tail: String) {
    let frame = text(page_session_html())
    let mark = "<!-- data -->"
    guard let place = frame.firstRange(of: mark) else { return (frame, "") }
    return (String(frame[..<place.lowerBound]), String(frame[place.upperBound...]))
  }

  private static var script: String { "\n" + text(page_session_js()) }

  /// What the page may do: run its own script, which is known by its digest, and nothing that a packet brings; and
  /// load nothing.
  private static var policy: String {
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-\(digest(script))'; "
      + "base-uri 'none'; form-action 'none'"
  }

  private static func text(_ data: page_data) -> String {
    String(decoding: UnsafeBufferPointer(start: data.bytes, count: data.count), as: UTF8.self)
  }

  /// The SHA-256 of a text in base 64.
  private static func digest(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
    var encoded = [UInt8](repeating: 0, count: 2 * digest.count)
    let length = EVP_EncodeBlock(&encoded, digest, CInt(count))
    return String(decoding: encoded.prefix(Int(length)), as: UTF8.self)
  }
}
