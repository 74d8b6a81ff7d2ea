package import RepriseCore
import Wire

/// What was said at chosen places of a session, read again.
package struct SessionDetails: Sendable {
  /// Nil while it reads, as what takes the readings changes what it belongs to.
  private var reader: SessionReader?
  private var forms: NormalForm
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
    forms = NormalForm(options)
    json = EventJSONWriter(hiding: options.hidden)
    text = EventTextWriter(hiding: options.hidden, payloadLimit: payloadLimit)
  }

  /// Takes the next event of the same session.
  /// - Parameters:
  ///   - event: The event.
  ///   - isSelected: Whether it is to be compared.
  /// - Throws: Nothing, as what takes the readings does not.
  package mutating func consume(_ event: borrowing EventView, isSelected: Bool) throws {
    let number = event.context.connection
    guard var reader = reader.take() else { return }
    defer { self.reader = reader }
    try reader.read(event, isSelected: isSelected) { reading, event in
      let place = SessionPlaces.Place(
        connection: number, lane: reading.lane.rawValue, index: reading.index)
      guard places.contains(place) else { return }
      if reading.kind == .answer {
        guard spoken[place] != nil else { return }
        let answer = utterance(event, reading)
        spoken[place]?.answers.append(answer)
      } else if memory > 0 {
        spoken[place] = utterance(event, reading)
      } else {
        isCut = true
      }
    }
  }

  func spoken(_ connection: Int, _ lane: Int, _ index: Int?) -> Utterance? {
    index.flatMap {
      spoken[SessionPlaces.Place(connection: connection, lane: lane, index: $0)]
    }
  }

  private mutating func utterance(_ event: borrowing EventView, _ reading: Reading) -> Utterance {
    var bytes: [UInt8] = []
    json.append(event, to: &bytes)
    var line: [UInt8] = []
    text.appendBody(event, to: &line)
    // A value of JSON takes several times its text.
    memory -= 1_024 + 8 * bytes.count
    return Utterance(
      frame: event.context.frame, time: event.context.time, sender: event.context.sender,
      form: reading.kind == .loss ? .null : forms.form(of: event, as: reading),
      line: String(decoding: line, as: UTF8.self), json: bytes)
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
