internal import RepriseCore
internal import Wire

/// What the ends of a connection of MQTT 5.0 told each other in CONNECT and CONNACK, and how far they have used it.
///
/// A limit that can't be read, stands twice, or is none that there may be is not known: nobody can say which value
/// the other side took.
struct Terms {
  /// What one end accepts.
  struct Limits {
    /// The most messages above QoS 0 that may be open; nil where it is not known.
    var receiveMaximum: UInt32?
    /// The largest packet, in bytes; none is all that there may be.
    var maximumPacketSize: UInt32?
    /// The highest topic alias.
    var topicAliasMaximum: UInt32?
    /// Whether a largest packet was named.
    var hasPacketSize: Bool

    init(_ packet: borrowing MQTTPacketView) {
      receiveMaximum = packet.number(.receiveMaximum, orElse: 65_535)
      maximumPacketSize = packet.number(.maximumPacketSize, orElse: .max)
      topicAliasMaximum = packet.number(.topicAliasMaximum, orElse: 0)
      hasPacketSize = packet.propertySet.contains(.maximumPacketSize)
    }
  }

  /// What the client accepts.
  var client: Limits
  /// What the server accepts; nil before its CONNACK.
  var server: Limits?
  /// The highest QoS that the server takes, and whether it keeps retained messages.
  var maximumQoS: UInt32? = 2
  var retainAvailable: UInt32? = 1
  /// Whether the server takes filters with wildcards, Subscription Identifiers, and shared subscriptions.
  private(set) var wildcardsAvailable: UInt32? = 1
  private(set) var identifiersAvailable: UInt32? = 1
  private(set) var sharedAvailable: UInt32? = 1
  /// Whether the client wants reasons with failures, and to be told where answers go.
  let wantsProblemInformation: UInt32?
  let wantsResponseInformation: UInt32?
  let method: AuthenticationMethod
  let hasEmptyClientID: Bool
  let willQoS: UInt8?
  let retainsWill: Bool
  /// Whether something shows that the client has the CONNACK.
  private(set) var clientHasConnack = false
  /// The messages and the topics that are remembered; behind a reference, so that the rest is copied at no cost.
  private(set) var told = ToldMessages()

  /// Reads a CONNECT that is all there.
  init(_ packet: borrowing MQTTPacketView, _ connect: borrowing MQTTConnectView) {
    client = Limits(packet)
    wantsProblemInformation = packet.number(.requestProblemInformation, orElse: 1)
    wantsResponseInformation = packet.number(.requestResponseInformation, orElse: 0)
    method = AuthenticationMethod(packet)
    let isCut = packet.faults.contains { $0.code == .fieldCut || $0.code == .noPropertyLength }
    hasEmptyClientID = !isCut && connect.clientID.byteCount == 0
    willQoS = connect.hasWill ? connect.willQoS : nil
    retainsWill = connect.hasWill && connect.willRetain
  }

  /// Takes what a CONNACK says.
  mutating func accept(_ packet: borrowing MQTTPacketView) {
    guard server == nil else { return }
    server = Limits(packet)
    maximumQoS = packet.number(.maximumQoS, orElse: 2)
    retainAvailable = packet.number(.retainAvailable, orElse: 1)
    wildcardsAvailable = packet.number(.wildcardSubscriptionAvailable, orElse: 1)
    identifiersAvailable = packet.number(.subscriptionIdentifierAvailable, orElse: 1)
    sharedAvailable = packet.number(.sharedSubscriptionAvailable, orElse: 1)
  }

  /// The same with what is remembered for itself.
  fileprivate var copy: Terms {
    var copy = self
    copy.told = ToldMessages(copying: told)
    return copy
  }

  /// Takes note that the client has the CONNACK: what binds it from its next packet on.
  mutating func noteConnackSeen() { clientHasConnack = true }
}

/// The method of an authentication, as far as it is to be compared.
enum AuthenticationMethod: Equatable {
  case none
  /// A name, by its length and a hash.
  case named(length: Int, hash: UInt64)
  case unknown

  init(_ packet: borrowing MQTTPacketView) {
    guard packet.number(.authenticationMethod, orElse: 0) != nil else {
      self = .unknown
      return
    }
    self = .none
    var properties = packet.properties
    while let property = properties.next() {
      guard property.id == .authenticationMethod else { continue }
      let name = property.bytes(in: packet.bytes)
      let hash = name.withUnsafeBytes { bytes in
        bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
          ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
      }
      self = .named(length: name.byteCount, hash: hash)
    }
  }
}

/// The messages above QoS 0 of a side that are open for certain: what missing bytes may have acknowledged is not
/// among them (section 4.9).
struct OpenMessages {
  private var open = PacketIDTable<Bool>(limit: ConnectionState.maximumOpen)
  /// Identifiers whose acknowledgement was captured before their message.
  private var early: [UInt16] = []
  private static let mostEarly = 64

  var count: Int { open.count }
  var isFull: Bool { open.isFull }

  /// The memory that they take, in bytes.
  var reserved: Int { open.reserved + early.grownSize }

  /// Whether a message of an identifier is open, or has been acknowledged before it came.
  func isKnown(_ id: UInt16) -> Bool { open[id] != nil || early.contains(id) }

  /// Takes a message.
  mutating func publish(_ id: UInt16) {
    if let place = early.firstIndex(of: id) {
      early.remove(at: place)
    } else {
      _ = open.insert(true, for: id)
    }
  }

  /// Takes what ends a message.
  mutating func end(_ id: UInt16) {
    guard open.remove(id) == nil else { return }
    if early.count == Self.mostEarly { early.removeFirst() }
    early.append(id)
  }

  /// Forgets all: bytes are missing that may have acknowledged them.
  mutating func lose() { open = PacketIDTable<Bool>(limit: ConnectionState.maximumOpen) }
}

/// What is remembered of the messages of a connection beside its exchanges and subscriptions.
///
/// Nothing keeps an access to it while another one begins; to look after that each time costs more than most rules.
final class ToldMessages {
  /// The messages above QoS 0 that each side has open.
  @exclusivity(unchecked) var fromClient = OpenMessages()
  @exclusivity(unchecked) var fromServer = OpenMessages()
  /// What the aliases of each side stand for.
  @exclusivity(unchecked) var aliasesOfClient = TopicAliases()
  @exclusivity(unchecked) var aliasesOfServer = TopicAliases()
  /// The retained messages that came for subscriptions that want them once.
  var retainedSeen: Set<UInt64> = []
  static let mostRetained = 1_024
  /// The only shared subscription that the client ever asked for, by a hash; nil where it is none, or not the only one.
  var onlyShare: UInt64? { hasOtherShare || share == 0 ? nil : share }
  private var share: UInt64 = 0
  private var hasOtherShare = false
  /// What each side has sent that the other has to take.
  @exclusivity(unchecked) private var ofClient = Allowance()
  @exclusivity(unchecked) private var ofServer = Allowance()

  /// What a side has sent; read and changed where it lies, as there are collections in it.
  subscript(peer: Peer) -> Allowance {
    @inline(__always) _read {
      if peer == .client { yield ofClient } else { yield ofServer }
    }
    @inline(__always) _modify {
      if peer == .client { yield &ofClient } else { yield &ofServer }
    }
  }

  /// Since when the send quota of a side is used up; nil where it is not, or is not known to be.
  func fullSince(of peer: Peer) -> Timestamp? {
    peer == .client ? ofClient.fullSince : ofServer.fullSince
  }

  /// Takes a shared subscription.
  func note(share filter: RawSpan) {
    let hash = ContentHash.of(filter) | 1
    if share != 0, share != hash { hasOtherShare = true }
    share = hash
  }

  init() {}

  init(copying other: ToldMessages) {
    fromClient = other.fromClient
    fromServer = other.fromServer
    aliasesOfClient = other.aliasesOfClient
    aliasesOfServer = other.aliasesOfServer
    retainedSeen = other.retainedSeen
    share = other.share
    hasOtherShare = other.hasOtherShare
    ofClient = other.ofClient
    ofServer = other.ofServer
  }

  /// The memory that they take, in bytes.
  var reserved: Int {
    fromClient.reserved + fromServer.reserved + aliasesOfClient.reserved + aliasesOfServer.reserved
      + retainedSeen.capacity * 9 + 2 * MemoryLayout<Allowance>.stride + ofClient.reserved
      + ofServer.reserved
  }
}

/// The topics that the aliases of one side stand for (section 3.3.2.3.4).
struct TopicAliases {
  private var topics: [UInt16: [UInt8]] = [:]
  /// The bytes of all of them.
  private var size = 0
  /// Whether there was no room for a topic.
  private(set) var hasForgotten = false
  private static let mostBytes = 256 << 10

  /// The memory that they take, in bytes.
  var reserved: Int { size + topics.capacity * 32 }

  /// Takes the topic of an alias; one that there is no room for is not known.
  mutating func set(_ alias: UInt16, _ topic: RawSpan) {
    size -= topics[alias]?.count ?? 0
    topics[alias] = nil
    guard size + topic.byteCount <= Self.mostBytes else {
      hasForgotten = true
      return
    }
    size += topic.byteCount
    topics[alias] = [UInt8](copying: topic)
  }

  /// The topic of an alias; nil where it is not known.
  subscript(alias: UInt16) -> [UInt8]? { topics[alias] }

  /// Forgets all: bytes are missing that may have set them anew.
  mutating func lose() { self = TopicAliases() }
}

extension ConnectionState {
  /// Takes the Topic Alias of a PUBLISH.
  /// - Returns: The topic that it stands for, where the packet has none; empty where that is not known.
  mutating func takeAlias(
    _ packet: borrowing MQTTPacketView, _ context: EventContext
  ) -> [UInt8] {
    let sender = context.sender
    // Of one that was put together from fields nobody knows what was missing.
    if packet.missing > 0,
      context.isRebuilt || !packet.hasProperties || !packet.propertySet.isWhole
    {
      // It may have given any alias another topic.
      change {
        if sender == .client {
          $0.told.aliasesOfClient.lose()
        } else {
          $0.told.aliasesOfServer.lose()
        }
      }
      return []
    }
    guard packet.propertySet.contains(.topicAlias), terms != nil,
      let alias = packet.properties.integer(.topicAlias).flatMap({ UInt16(exactly: $0) }), alias > 0
    else { return [] }
    guard packet.topic.byteCount > 0 else {
      let told = terms?.value.told
      let known = sender == .client ? told?.aliasesOfClient : told?.aliasesOfServer
      return known?[alias] ?? []
    }
    let topic = [UInt8](copying: packet.topic)
    change {
      if sender == .client {
        $0.told.aliasesOfClient.set(alias, topic.span.bytes)
      } else {
        $0.told.aliasesOfServer.set(alias, topic.span.bytes)
      }
    }
    return []
  }

  /// Changes the terms, where the CONNECT was seen as a whole.
  @inline(__always)
  mutating func change(_ body: (inout Terms) -> Void) {
    ownTerms()
    terms?.change(body)
  }

  /// What is remembered of messages, to be changed; nil where the CONNECT was not seen as a whole.
  @inline(__always)
  mutating func ownTold() -> ToldMessages? {
    ownTerms()
    return terms?.value.told
  }

  /// Sees that nobody else has the terms.
  @inline(__always)
  private mutating func ownTerms() {
    if !isKnownUniquelyReferenced(&terms), let old = terms { terms = Boxed(old.value.copy) }
  }
}
