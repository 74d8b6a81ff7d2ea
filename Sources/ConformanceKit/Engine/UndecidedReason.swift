internal import RepriseCore

/// Why a capture does not decide a clause.
enum UndecidedReason: Int, CaseIterable, Sendable {
  case inferredVersion
  case startNotCaptured
  case clientGap
  case serverGap
  case orderUncertain
  case clocksDiffer
  case clockMayBeSet
  case incompletePacket
  case endOfCapture
  case requesterLeft
  case clientRefused
  case answererClosed
  case shortlySeen
  case answeredLate
  case stillSending
  case messageOpen
  case connectNotSeen
  case sessionResumed
  case sessionMayBeOlder
  case sessionGoesOn
  case unsubscribed
  case extensionFilter
  case tooMany
  case forgotten
  case leftOut
  case repeatedMessage
  case sameRequest
  case sameCodes
  case answersEarlierConnection
  case loweredQoS
  case noOrderFits
  case keepAliveMargin
  case pingsNotRecorded
  case longPacket
  case connackInSilence
  case connackNotSeen
  case serverClosedFirst
  case clientMayBeGone
  case serverMayBeGone
  case serverMayHaveRestarted
  case endCapturedLate
  case otherCode
  case otherStatus
  case versionMayBeKnown
  case versionsMayBeAll
  case onTheirWay
  case clientClosedFirst
  case senderClosedFirst
  case closedLate
  case serverClosedLate
  case earlierFieldCut
  case leftOverBytes
  case oddFields
  case answeredBefore
  case faultyRequest
  case unknownSubscriptions
  case clientNotSeenOn
  case serverNotSeenOn
  case capturedLate
  case handshakeNotSeen
  case requestNotSeen
  case answerNotSeen
  case rolesInferred
  case unreadableStartLine
  case forwarded
  case recordedTwice
  case hostMayBeSame
  case handedOn
  case laterVersion
  case erratumAllows
  case unknownExtension
  case notInflated
  case messageGivenUp
  case closeCameFirst
  case wasReset
  case otherAtFault
  case retold
  case hidden
  case unreadableProperty
  case readsOtherwise
  case olderServer
  case successInShort
  case limitNotKnown
  case needNotCheck
  case expiryNotKnown
  case authenticating
  case mayBeRepeat
  case crossedAnswer
  case publishersUnseen
  case publishersLeftOut
  case framesDropped
  case oneMessageAlone
  case ambiguousMessage
  case subscriptionMayBeNewer
  case onItsWay
  case delayedOnItsWay
  case mayBePublished
  case copyMayCome
  case mayBeKept
  case serverPolicy
  case serverMaySubscribe
  case serverMaySayIt
  case notTaken
  case messageMayExpire
  case queueMayBeFull
  case earlierSessionNotSeen
  case connectionsUnseen
  case willNotSeen
  case nothingAnswers
  case nothingToSend
  case arrivedLate
  case silenceNotShown
  case clientAltered
  case serverAltered

  /// What is said of it in a report.
  var text: String {
    switch self {
    case .inferredVersion: "the CONNECT is not in the capture, so the version is only inferred"
    case .startNotCaptured: "the start of the connection is not in the capture"
    case .clientGap: "bytes of the client are missing from the capture"
    case .serverGap: "bytes of the server are missing from the capture"
    case .orderUncertain: "what came first in which direction the capture does not tell"
    case .clocksDiffer:
      "the times of the directions contradict their order, as if they were taken by two clocks"
    case .clockMayBeSet:
      "several clients were silent for too long by one pause of the capture, as if its clock had been set"
    case .incompletePacket: "bytes of the packet are missing from the capture"
    case .endOfCapture: "the capture ends before the connection does"
    case .requesterLeft: "the one who waited for the answer ended the connection"
    case .clientRefused: "the server had refused the client, and need not answer"
    case .answererClosed: "the connection was closed instead of an answer, which may be legal"
    case .answeredLate:
      "the one who owes the answer gave others late, and may not have come to this one yet"
    case .shortlySeen: "the one who owes the answer was not seen to go on for more than 30 s"
    case .stillSending:
      "the one who owes the answer never paused in what it sent, behind which the answer may have waited"
    case .messageOpen: "the answer may wait for the end of the message that was being sent"
    case .connectNotSeen: "the CONNECT that it depends on is not in the capture"
    case .sessionResumed: "the session began before the capture"
    case .sessionMayBeOlder:
      "the client asked for its session, and the server may have gone on with it though it said that there "
        + "is none"
    case .sessionGoesOn: "the session outlives the connection, and the answer may come in the next"
    case .unsubscribed:
      "only a filter matches that was unsubscribed, and messages may have been on their way"
    case .extensionFilter: "the client uses filters of a broker's own extension"
    case .tooMany: "more is open at once than is kept"
    case .forgotten:
      "what was known of the connection was given up: with that of all others it was more than "
        + "--memory allows"
    case .leftOut: "events of the connection were left out of the recording"
    case .repeatedMessage: "a message was repeated, so it is not known which time counts"
    case .sameRequest: "all filters of the SUBSCRIBE ask for the same QoS"
    case .sameCodes: "all codes are the same, so their order does not show"
    case .answersEarlierConnection: "it may answer a message of an earlier connection"
    case .loweredQoS: "the server lowered a QoS, so the order of the codes does not show"
    case .noOrderFits: "no order of the codes fits the request"
    case .keepAliveMargin:
      "the silence is between 1.0 and 1.5 times the Keep Alive, which a distant capture may explain"
    case .pingsNotRecorded: "PINGREQs are not in a recording that a client makes of itself"
    case .longPacket: "the packet that ends the silence is long and may have been begun in time"
    case .connackInSilence: "CONNACK came within the silence"
    case .connackNotSeen: "no CONNACK was captured, for which the client may have waited"
    case .serverClosedFirst: "the server ended the connection first"
    case .clientMayBeGone:
      "nothing shows that the client was still there: a proxy may answer for one that is gone"
    case .serverMayBeGone:
      "the client ended the connection, and nothing shows that the server was still there"
    case .serverMayHaveRestarted:
      "the server ended connections for no reason that shows: it may have stopped, and know less than before"
    case .endCapturedLate:
      "the end was captured late, and may have been sent in time"
    case .otherCode: "the server refused by a code that may have another cause"
    case .otherStatus: "the server answered by a status that may have another cause"
    case .versionMayBeKnown: "the server may know the version that was asked for"
    case .versionsMayBeAll: "which versions the server supports is not on the wire"
    case .onTheirWay: "what the receiver sent before it closed may have been on its way"
    case .clientClosedFirst: "the client ended the connection first"
    case .senderClosedFirst: "the sender of the bad packet ended the connection first"
    case .closedLate: "the client ended the connection, but took more than 30 s"
    case .serverClosedLate: "the server ended the connection, but took more than 30 s"
    case .earlierFieldCut: "an earlier field of the packet is cut"
    case .leftOverBytes: "bytes are left over in the CONNECT whose field can't be told"
    case .oddFields: "fields hold what they should not, which another order may explain"
    case .answeredBefore: "the identifier was answered before"
    case .faultyRequest: "the request has faults of its own"
    case .unknownSubscriptions: "it is not known which subscriptions the session had"
    case .clientNotSeenOn:
      "the request may be missing from the capture: no packet of the client was captured behind it"
    case .serverNotSeenOn:
      "an answer may be missing from the capture: no packet of the server was captured behind it"
    case .capturedLate: "answer and request may have been captured in the wrong order"
    case .handshakeNotSeen: "the opening handshake is not in the capture"
    case .requestNotSeen: "the request that it answers is not in the capture"
    case .answerNotSeen: "the answer to the opening handshake is not in the capture"
    case .rolesInferred: "who is the client is only inferred from the masks"
    case .unreadableStartLine: "the first line of the request can't be read"
    case .forwarded: "it may be the same request, forwarded by a proxy"
    case .recordedTwice: "it may be the same connection, which the capture holds twice"
    case .hostMayBeSame: "both may name the same host, in two ways of writing"
    case .handedOn: "a proxy has handed the request on, and may know its server by address alone"
    case .erratumAllows: "a verified erratum allows it, as another section of the text does"
    case .laterVersion: "the client may prefer a later version of WebSocket, and come down to 13"
    case .unknownExtension: "an extension is in use that this suite does not know"
    case .notInflated: "the compressed payload could not be inflated"
    case .messageGivenUp: "the message was given up when the connection ended"
    case .closeCameFirst: "a Close frame followed, behind which no answer is due"
    case .wasReset: "the connection was reset, which may be no decision of an endpoint"
    case .otherAtFault: "the other side had broken the rules, for which a connection may be failed"
    case .retold: "the recording is a client's own, which does not tell handshakes and frames"
    case .unreadableProperty: "properties of the packet can't be read to their end"
    case .readsOtherwise:
      "the packet is well formed without a Property Length, which its sender may have left out"
    case .olderServer: "the server may speak an earlier version of MQTT only"
    case .successInShort:
      "section 3.15.2.1 lets an AUTH that succeeded end in front of its properties"
    case .limitNotKnown: "nothing shows that the sender knew the limit yet"
    case .needNotCheck: "the receiver went on, but need not have noticed"
    case .expiryNotKnown: "how long the session lasts is not known"
    case .authenticating: "an authentication is going on"
    case .mayBeRepeat: "the message may have been sent before, unseen or in another session"
    case .publishersUnseen:
      "messages were delivered whose publishers are not in the capture, or bytes of clients are missing"
    case .publishersLeftOut:
      "it is a selection, in which the connections of publishers may be left out"
    case .framesDropped:
      "the capture says that frames were lost, among which the connections of publishers may be"
    case .oneMessageAlone:
      "one message alone may be that of a publisher which is not in the capture and says the same"
    case .ambiguousMessage:
      "the message can't be told from another: it was published more than once, or is a will"
    case .subscriptionMayBeNewer:
      "the message may be older than a subscription that matches, or than a change of it"
    case .crossedAnswer:
      "nothing shows that the sender had the answer when it sent the message again"
    case .onItsWay: "the message may have been on its way before the UNSUBACK"
    case .delayedOnItsWay:
      "the message may have waited in the network in front of the client, and not at the server"
    case .mayBePublished: "the message may have been published while the client was subscribed"
    case .copyMayCome:
      "no other message was delivered behind it, so another copy may have been on its way"
    case .mayBeKept:
      "it may be another message of the same topic and payload, which the server kept from before"
    case .serverPolicy: "a policy or a limit of the server may explain it"
    case .serverMaySubscribe: "the server may have subscribed the client by itself"
    case .serverMaySayIt:
      "a rule of the server may say the same as the will of a client that leaves"
    case .notTaken: "nothing shows that the server took the message"
    case .messageMayExpire: "the message may have expired"
    case .queueMayBeFull:
      "the client had messages open, and the server may have given others up for it"
    case .earlierSessionNotSeen: "no earlier connection of the client is in the capture"
    case .connectionsUnseen:
      "the client may have had a connection in between that is not in the capture"
    case .willNotSeen:
      "no client got the will, and of none it is known that it should have"
    case .nothingAnswers: "nothing answers a message of QoS 0"
    case .nothingToSend: "it sent nothing else meanwhile, and may have had nothing to send"
    case .arrivedLate:
      "what was sent arrived late, as acknowledgements of TCP show, and when is not known"
    case .silenceNotShown:
      "the capture was taken away from the client, and what it sent may have been lost on its way and come again"
    case .clientAltered:
      "what the client sent is not all there as it was sent: a proxy altered it on purpose"
    case .serverAltered:
      "what the server sent is not all there as it was sent: a proxy altered it on purpose"
    case .hidden: "a secret was hidden where it would be decided"
    }
  }

  /// The reason where nothing is missing but the order of both directions.
  var withoutGap: UndecidedReason {
    self == .clientGap || self == .serverGap ? .orderUncertain : self
  }

  /// The reason where what is missing was given up.
  /// - Parameter cause: Why it was.
  /// - Returns: The cause, or this reason where it stays what it is.
  func becoming(_ cause: UndecidedReason) -> UndecidedReason {
    switch self {
    case .clientGap, .serverGap, .startNotCaptured, .connectNotSeen, .handshakeNotSeen,
      .requestNotSeen, .answerNotSeen, .unknownSubscriptions:
      cause
    default: self
    }
  }

  /// The reason that a peer took long to end the connection.
  static func closedLate(_ peer: Peer) -> UndecidedReason {
    peer == .client ? .closedLate : .serverClosedLate
  }

  /// The reason that a peer ended the connection before the other did.
  static func closedFirst(_ peer: Peer) -> UndecidedReason {
    peer == .client ? .clientClosedFirst : .serverClosedFirst
  }

  /// The reason that a proxy altered what a peer sent.
  static func altered(by peer: Peer) -> UndecidedReason {
    peer == .client ? .clientAltered : .serverAltered
  }

  /// The reason that bytes of a peer are missing.
  static func gap(of peer: Peer) -> UndecidedReason { peer == .client ? .clientGap : .serverGap }
}
