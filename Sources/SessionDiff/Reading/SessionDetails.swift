package import RepriseCore
import Wire

/// What was said at chosen places of a session, read again.
package struct SessionDetails: Sendable {
  /// Nil while it reads, as what takes the readings changes what it belongs to.
  private var reader: SessionReader?
  private let places: Set<SessionPlaces.Place>
  private var spoken: [SessionPlaces.Place: Utterance] = [:]
  private let json: EventJSONWriter
  private var text: EventTextWriter
  private var memory: Int

  /// Whether there was no room for all of it.
  package private(set) var isCut = false

  /// Prepares to read.
  /// - Parameters:
  ///   - places: The places.
  ///   - options: What counts.
  ///   - payloadLimit: The most characters of a payload that a line shows.
  ///   - memory: About the most bytes that what was said may take.
  package init(
    _ places: SessionPlaces, _ options: DiffOptions,
    payloadLimit: Int = EventTextWriter.defaultPayloadLimit, memory: Int
  ) {
    self.places = places.places
    self.memory = memory
    reader = SessionReader(options)
    json = EventJSONWriter(hiding: options.hidden)
    text = EventTextWriter(hiding: options.hidden, payloadLimit: payloadLimit)
  }

  /// Takes the next event of the same session.
  /// - Parameters:
  ///   - event: The event.
  ///   - isSelected: Whether it is to be compared.
  package mutating func consume(_ event: borrowing EventView, isSelected: Bool) throws {
    let number = event.context.connection
    guard var reader = reader.take() else { return }
    defer { self.reader = reader }
    try reader.read(event, isSelected: isSelected) { reading, event in
      switch reading {
      case .item(let lane, let index, let form): keep(form, event, at: number, lane, index)
      case .loss(let lane, let index): keep(.null, event, at: number, lane, index)
      case .answer(let lane, let index, let form):
        let place = SessionPlaces.Place(connection: number, lane: lane.rawValue, index: index)
        guard spoken[place] != nil else { return }
        let answer = utterance(form, event)
        spoken[place]?.answers.append(answer)
      }
    }
  }

  func spoken(_ connection: Int, _ lane: Int, _ index: Int?) -> Utterance? {
    index.flatMap {
      spoken[SessionPlaces.Place(connection: connection, lane: lane, index: $0)]
    }
  }

  private mutating func keep(
    _ form: JSONValue, _ event: borrowing EventView, at connection: Int, _ lane: Lane, _ index: Int
  ) {
    let place = SessionPlaces.Place(connection: connection, lane: lane.rawValue, index: index)
    guard places.contains(place) else { return }
    guard memory > 0 else {
      isCut = true
      return
    }
    spoken[place] = utterance(form, event)
  }

  private mutating func utterance(_ form: JSONValue, _ event: borrowing EventView) -> Utterance {
    var bytes: [UInt8] = []
    json.append(event, to: &bytes)
    var line: [UInt8] = []
    text.appendBody(event, to: &line)
    // A value of JSON takes several times its text.
    memory -= 1_024 + 8 * bytes.count
    return Utterance(
      frame: event.context.frame, time: event.context.time, sender: event.context.sender,
      form: form, line: String(decoding: line, as: UTF8.self), json: bytes)
  }
}

/// Something that was said, as it is shown.
package struct Utterance: Sendable, Hashable {
  /// The frame that completed it; in a recording, the line.
  package let frame: Int
  /// When that was.
  package let time: Timestamp
  /// The end that said it.
  package let sender: Peer
  /// What is compared of it.
  let form: JSONValue
  /// What `inspect` shows of it, from the type on.
  package let line: String
  /// Its line of JSON.
  let json: [UInt8]
  /// What answered it.
  package internal(set) var answers: [Utterance] = []
}
