public import CloudSimulator
public import DeviceSDK
public import RepriseCore

/// Sessions of requests whose messages have names of the application's own, made and recorded in process.
public enum RequestSession {
  /// An envelope that has no name of the model.
  public static let envelope: RequestEnvelope = {
    var envelope = RequestEnvelope()
    envelope.id = "seq"
    envelope.service = "path"
    envelope.method = "verb"
    envelope.product = "app"
    envelope.content = "body"
    envelope.error = "fault"
    envelope.errorCode = "no"
    envelope.errorMessage = "why"
    envelope.heartbeat = "ping"
    envelope.writesContentAsText = false
    return envelope
  }()

  /// The same envelope as a script has it.
  public static let envelopeJSON = """
    {"id":"seq","service":"path","method":"verb","product":"app","content":"body","error":"fault",\
    "errorCode":"no","errorMessage":"why","heartbeat":"ping","contentAsText":false}
    """

  /// A configuration with the envelope and without heartbeats, as virtual time would pass from one to the next.
  public static var configuration: RequestConfiguration {
    var configuration = RequestConfiguration()
    configuration.format = JSONRequestFormat(envelope)
    configuration.heartbeatInterval = nil
    return configuration
  }

  /// What is asked for.
  public struct Question: RequestTarget {
    /// The path of the service.
    public var service: String
    /// The parameters.
    public var parameters: JSONValue
    /// What stands for the answer's content where nothing is sent.
    public var sampleData: [UInt8]?

    /// Creates a question.
    public init(_ service: String, _ parameters: JSONValue = [:], sampleData: [UInt8]? = nil) {
      self.service = service
      self.parameters = parameters
      self.sampleData = sampleData
    }
  }

  /// Records requests with the envelope, and a server that has the same.
  /// - Parameters:
  ///   - services: What is asked for, each with `{"question":"Are you OK?"}`.
  ///   - script: How the server behaves; its envelope is set.
  ///   - configuration: How requests are sent.
  /// - Returns: The recording.
  /// - Throws: What the connection throws.
  public static func record(
    _ services: [String], _ script: RequestScript = RequestScript(),
    configuration: RequestConfiguration = Self.configuration
  ) async throws -> [UInt8] {
    var script = script
    script.envelope = envelope
    let recorder = try RecordingClient(
      InProcessRequestServer(script), to: MemorySink(),
      redaction: RedactionRules(hidesSecrets: false))
    try await withRequests(on: recorder, configuration: configuration) { connection in
      try await connection.open()
      for service in services {
        _ = try? await connection.answer(to: Question(service, ["question": "Are you OK?"]))
      }
    }
    try recorder.finish()
    return recorder.sink.bytes
  }
}
