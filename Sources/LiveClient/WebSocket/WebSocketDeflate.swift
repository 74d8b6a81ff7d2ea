import CWebSockets
import Glibc
import Wire

/// permessage-deflate for the library, which only has to leave the bytes alone (RFC 7692).
///
/// The library's own extension aborts the process when a message does not fit its buffers just so, in
/// either direction. So messages are deflated before the library gets them, and inflated behind it; all
/// that is done inside of it is to agree, and to mark the first frame of a message that is deflated.
enum WebSocketDeflate {
  /// What is offered: without context this side needs no agreement on a window.
  static let offer = "permessage-deflate; client_no_context_takeover"
  /// RSV1, which marks a message that is deflated (RFC 7692 section 6).
  static let mark: UInt8 = 0x40

  private struct Names: @unchecked Sendable {
    // They live as long as the process and are never written to.
    let name = UnsafePointer(strdup(PermessageDeflate.name))
    let offer = UnsafePointer(strdup(WebSocketDeflate.offer))
    let options: UnsafeMutablePointer<lws_ext_options>

    init() {
      let known = [
        ("server_no_context_takeover", EXTARG_NONE), ("client_no_context_takeover", EXTARG_NONE),
        ("server_max_window_bits", EXTARG_OPT_DEC), ("client_max_window_bits", EXTARG_OPT_DEC),
      ]
      options = .allocate(capacity: known.count + 1)
      options.initialize(repeating: lws_ext_options(), count: known.count + 1)
      for (index, option) in known.enumerated() {
        options[index] = lws_ext_options(name: UnsafePointer(strdup(option.0)), type: option.1)
      }
    }
  }

  private static let names = Names()

  /// Makes the list of extensions; to be deallocated when the context is gone.
  static func makeList(isOffered: Bool) -> UnsafeMutablePointer<lws_extension> {
    let list = UnsafeMutablePointer<lws_extension>.allocate(capacity: 2)
    list.initialize(repeating: lws_extension(), count: 2)
    guard isOffered else { return list }
    list[0].name = names.name
    list[0].client_offer = names.offer
    list[0].callback = { _, _, wsi, reason, _, data, _ in
      WebSocketDeflate.callback(wsi, reason, data)
    }
    return list
  }

  private static func callback(
    _ wsi: OpaquePointer?, _ reason: lws_extension_callback_reasons,
    _ data: UnsafeMutableRawPointer?
  ) -> Int32 {
    switch reason {
    case LWS_EXT_CB_CLIENT_CONSTRUCT:
      // The library reads the server's parameters by this list.
      data?.assumingMemoryBound(to: UnsafePointer<lws_ext_options>?.self).pointee =
        UnsafePointer(names.options)
      link(of: wsi)?.agreeOnDeflate()
    case LWS_EXT_CB_PACKET_TX_PRESEND:
      guard let link = link(of: wsi), let data else { return 0 }
      let frame = data.assumingMemoryBound(to: lws_tokens.self).pointee
      if link.takeMark(), frame.len > 0, let first = frame.token { first.pointee |= mark }
    default: break
    }
    return 0
  }

  private static func link(of wsi: OpaquePointer?) -> WebSocketLink? {
    guard let wsi, let user = lws_wsi_user(wsi) else { return nil }
    return Unmanaged<WebSocketLink>.fromOpaque(user).takeUnretainedValue()
  }
}
