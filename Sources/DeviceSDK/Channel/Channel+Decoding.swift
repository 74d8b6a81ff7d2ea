public import RepriseCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Channel {
  /// Sends a request and returns the data of its reply as a value.
  /// - Parameters:
  ///   - topic: The topic of the request.
  ///   - params: The parameters.
  ///   - opts: Its object `extraParam` has members that stand beside the parameters.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  ///   - type: What the data is; data that is missing counts as an empty object.
  /// - Returns: The value.
  /// - Throws: ``ChannelError``: `gateway` when the data is something else; and
  ///   `CancellationError`.
  public func invoke<Response: Decodable>(
    _ topic: String, _ params: JSONValue = [:], opts: JSONValue? = nil,
    timeout: Duration? = nil, as type: Response.Type
  ) async throws -> Response {
    let reply = try await invoke(topic, params, opts: opts, timeout: timeout)
    return try reply.decodeData(as: type)
  }
}

extension ChannelReply {
  /// Returns the data as a value.
  /// - Parameter type: What the data is; data that is missing counts as an empty object.
  /// - Returns: The value.
  /// - Throws: ``ChannelError`` of kind `gateway` when the data is something else.
  public func decodeData<Value: Decodable>(as type: Value.Type) throws(ChannelError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data((data ?? [:]).utf8))
    } catch {
      throw ChannelError(.gateway, "the reply's data is not \(type)", underlying: error)
    }
  }
}

extension ChannelMessage {
  /// Returns the parameters as a value.
  /// - Parameter type: What the parameters are.
  /// - Returns: The value.
  /// - Throws: ``ChannelError`` of kind `gateway` when they are something else.
  public func decodeParams<Value: Decodable>(as type: Value.Type) throws(ChannelError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data((params ?? [:]).utf8))
    } catch {
      throw ChannelError(.gateway, "the message's parameters are not \(type)", underlying: error)
    }
  }
}
