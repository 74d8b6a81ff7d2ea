internal import RepriseCore

/// The clauses of RFC 6455 about frames, messages and the end of a connection.
enum FrameRule: Int, CaseIterable {
  // Headers: sections 5.1 to 5.5, 5.8, 9.1 and 10.3.
  case clientMasks
  case serverDoesNotMask
  case reservedBitsAreZero
  case opcodeIsDefined
  case lengthHas63Bits
  case lengthIsShortest
  case maskedFrameHasKey
  case maskingKeyIsFresh
  case maskingKeyIsNew
  case controlIsWhole
  case controlIsShort
  case extensionsAreNegotiated
  case clientUsesAcceptedOnly
  // Messages: sections 5.4, 5.6 and 6.1.
  case messagesAreNotMixed
  case continuationContinues
  case fragmentsKeepType
  case textIsUTF8
  case dataOnlyWhileOpen
  case firstFrameHasType
  case lastFrameHasFIN
  // Close, Ping and Pong: sections 5.5 and 7.
  case closeBodyHasCode
  case nothingAfterClose
  case closeIsAnswered
  case connectionIsClosed
  case serverClosesAtOnce
  case pingHasPong
  case pongRepeatsPing
  case closingBeginsWithClose
  case noCode1005
  case noCode1006
  case noCode1015
  case codeIsDefined
  // What only a provocation shows, which a capture may hold.
  case serverClosesOnNoMask
  case clientClosesOnMask
  case receiverFailsOnBits
  case receiverFailsOnOpcode
  case receiverFailsOnText
  case dataIsChecked
  case fragmentsAreTaken
  case controlIsTakenBetween
  case failureEndsConnection
  case nothingIsReadBehindFailure

  /// The identifier in the catalogue.
  var clause: String {
    switch self {
    case .clientMasks: "RFC6455-5.1-1"
    case .serverDoesNotMask: "RFC6455-5.1-3"
    case .reservedBitsAreZero: "RFC6455-5.2-1"
    case .opcodeIsDefined: "RFC6455-5.2-3"
    case .lengthHas63Bits: "RFC6455-5.2-5"
    case .lengthIsShortest: "RFC6455-5.2-6"
    case .maskedFrameHasKey: "RFC6455-5.3-1"
    case .maskingKeyIsFresh: "RFC6455-5.3-2"
    case .maskingKeyIsNew: "RFC6455-10.3-1"
    case .controlIsWhole: "RFC6455-5.4-1"
    case .controlIsShort: "RFC6455-5.5-1"
    case .extensionsAreNegotiated: "RFC6455-5.8-1"
    case .clientUsesAcceptedOnly: "RFC6455-9.1-3"
    case .messagesAreNotMixed: "RFC6455-5.4-2"
    case .continuationContinues: "RFC6455-5.4-3"
    case .fragmentsKeepType: "RFC6455-5.4-7"
    case .textIsUTF8: "RFC6455-5.6-1"
    case .dataOnlyWhileOpen: "RFC6455-6.1-1"
    case .firstFrameHasType: "RFC6455-6.1-2"
    case .lastFrameHasFIN: "RFC6455-6.1-3"
    case .closeBodyHasCode: "RFC6455-5.5.1-1"
    case .nothingAfterClose: "RFC6455-5.5.1-3"
    case .closeIsAnswered: "RFC6455-5.5.1-4"
    case .connectionIsClosed: "RFC6455-5.5.1-5"
    case .serverClosesAtOnce: "RFC6455-5.5.1-6"
    case .pingHasPong: "RFC6455-5.5.2-1"
    case .pongRepeatsPing: "RFC6455-5.5.3-1"
    case .closingBeginsWithClose: "RFC6455-7.1.2-1"
    case .noCode1005: "RFC6455-7.4.1-1"
    case .noCode1006: "RFC6455-7.4.1-2"
    case .noCode1015: "RFC6455-7.4.1-3"
    case .codeIsDefined: "RFC6455-7.4.2-1"
    case .serverClosesOnNoMask: "RFC6455-5.1-2"
    case .clientClosesOnMask: "RFC6455-5.1-4"
    case .receiverFailsOnBits: "RFC6455-5.2-2"
    case .receiverFailsOnOpcode: "RFC6455-5.2-4"
    case .receiverFailsOnText: "RFC6455-8.1-1"
    case .dataIsChecked: "RFC6455-10.7-1"
    case .fragmentsAreTaken: "RFC6455-5.4-5"
    case .controlIsTakenBetween: "RFC6455-5.4-4"
    case .failureEndsConnection: "RFC6455-7.1.7-1"
    case .nothingIsReadBehindFailure: "RFC6455-7.1.7-2"
    }
  }

  /// The rule's place in the counters: behind the rules of handshakes.
  @inline(__always)
  var index: RuleIndex { RuleIndex(value: WebSocketJudge.frameBase + rawValue) }
}

extension Tally {
  @inline(__always)
  mutating func satisfy(_ rule: FrameRule, _ hearing: Hearing) { satisfy(rule.index, hearing) }

  @inline(__always)
  mutating func leave(
    _ rule: FrameRule, _ reason: UndecidedReason, _ hearing: Hearing, at moment: Moment? = nil
  ) {
    leave(rule.index, reason, hearing, at: moment)
  }

  mutating func violate(
    _ rule: FrameRule, _ event: borrowing EventView, _ hearing: Hearing,
    _ text: @autoclosure () -> FindingText
  ) {
    violate(rule.index, event, hearing, text())
  }
}
