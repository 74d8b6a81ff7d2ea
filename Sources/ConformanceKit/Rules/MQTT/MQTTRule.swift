internal import RepriseCore
internal import Wire

/// The rules of MQTT that take the state of a connection; each is a fold over its events.
enum MQTTRule: Int, CaseIterable {
  case answersKeepIdentifiers
  case acknowledgementsKeepIdentifiers
  case firstIsConnect
  case keepAlive
  case refusedIdentifierCloses
  case connectIsAnswered
  case firstIsConnack
  case cleanSessionIsNew
  case refusalCloses
  case topicMatchesFilter
  case publishIsAnswered
  case subscribeIsAnswered
  case subackKeepsIdentifier
  case subackHasCodePerFilter
  case subackKeepsOrder
  case unsubscribeCompletesDelivery
  case unsubscribeIsAnswered
  case emptyUnsubscribeIsAnswered
  case unsubscribeIsAnsweredOnce
  case unsubackKeepsOrder
  case pingIsAnswered
  case closesAfterDisconnect
  case nothingAfterDisconnect
  case clientAnswersPublish
  case pubacksInOrder
  case pubrecsInOrder
  case pubrelsInOrder
  case packetsInBinaryFrames
  case receiverCopesWithFrames
  case clientOffersMQTT
  case serverAnswersMQTT
  // What only a provocation shows, which a capture may hold.
  case wrongFlagsClose
  case secondConnectCloses
  case refusedLevelCloses
  case reservedConnectFlagCloses
  case keepAliveIsEnforced
  case plainIdentifierIsAllowed
  case emptyIdentifierIsRefused
  case connectIsValidated
  case refusedIsNotServed
  case connackCodeIsDefined
  case badOptionsClose
  case disconnectFlagsClose
  case violationCloses
  // Errors of 5.0 that a receiver need not look for: its close shows that it did.
  case badTextIsRejected
  case badPairIsRejected
  case wrongFlagsAreRejected
  case clientRejectsLargePacket
  case clientRejectsReasons
  case serverRejectsQoS
  case serverRejectsRetain
  case serverRejectsLargePacket
  case serverRejectsWildcard
  case serverRejectsIdentifier
  case serverRejectsShared
  case bothQoSBitsAreRejected
  case badAliasIsRejected
  case unknownAliasIsRejected
  case aliasEndsWithConnection
  case emptySubscribeIsRejected
  case emptyUnsubscribeIsRejected
  // What a packet of 5.0 holds by who sends it.
  case noSubscriptionIdentifierFromClient
  case payloadIsText
  case willIsText
  case authenticationDataNeedsMethod
  case noExpiryFromServer
  case authHasMethod
  case serverBeginsNoAuthentication
  case clientEndsNoAuthentication
  // What the ends of 5.0 accept and ask for.
  case serverKeepsPacketSize
  case clientKeepsPacketSize
  case clientKeepsReceiveMaximum
  case serverKeepsReceiveMaximum
  case quotaIsNoHigher
  case nothingIsSentAtQuotaZero
  case serverKeepsAliasMaximum
  case serverUsesNoAlias
  case serverAliasIsAccepted
  case clientKeepsAliasMaximum
  case clientUsesNoAlias
  case clientAliasIsAccepted
  case clientKeepsMaximumQoS
  case clientRetainsNothing
  case serverTellsNoReasons
  case connackComesOnce
  case emptyIdentifierIsReplaced
  case assignedIdentifierIsTold
  case connackAssignsIdentifier
  case responseInformationIsAskedFor
  case willQoSIsKept
  case willIsRetained
  case serverBeginsNoMethod
  case clientBeginsNoMethod
  case methodStays
  case authGoesWithConnect
  case authenticationComesFirst
  case refusedAuthenticationCloses
  case reauthenticationKeepsMethod
  case unknownMethodCloses
  case failedReauthenticationCloses
  case disconnectComesLater
  case serverKeepAliveIsKept
  case connackKeepAliveIsKept
  case clientKeepAliveIsEnforced
  case failureCloses
  case failedCheckCloses
  case reasonFitsConnack
  case usersFitConnack
  case reasonFitsPuback
  case usersFitPuback
  case reasonFitsPubrec
  case usersFitPubrec
  case reasonFitsPubrel
  case usersFitPubrel
  case reasonFitsPubcomp
  case usersFitPubcomp
  case reasonFitsSuback
  case usersFitSuback
  case reasonFitsUnsuback
  case usersFitUnsuback
  case reasonFitsDisconnect
  case usersFitDisconnect
  case reasonFitsAuth
  case usersFitAuth
  // Identifiers, and messages that are sent again.
  case clientTakesFreeIdentifier
  case serverTakesFreeIdentifier
  case clientRepeatsKeepIdentifier
  case repeatsHaveDup
  case serverDupIsItsOwn
  case repeatsComeWithSession
  case refusedIsNotRepeated
  case qos1TakesFreeIdentifier
  case qos1BeginsWithoutDup
  case qos1StaysOpen
  case qos2TakesFreeIdentifier
  case qos2BeginsWithoutDup
  case qos2StaysOpen
  case pubrelStaysOpen
  case nothingAgainBehindPubrel
  case repeatsKeepOrder
  // The steps of a delivery.
  case qos1IsAnswered
  case qos2IsReceived
  case pubrecIsReleased
  case pubrelIsCompleted
  case subackCodesAreDefined
  case expiryStaysZero
  // What connections have to do with each other: sessions.
  case presentSessionIsTold
  case absentSessionIsTold
  case sessionGoesOn
  case cleanStartEndsSession
  case cleanStartIsCarriedOut
  case olderConnectionEnds
  // And what one client publishes and others get.
  case wildcardsSpareDollarTopics
  case grantedQoSIsKept
  case sharedQoSIsKept
  case overlapsGetHighestQoS
  case numbersAreOfSubscriptions
  case overlapsAreNumbered
  case mergedCopyHasAllNumbers
  case copiesHaveOwnNumbers
  case noLocalIsKept
  case unsubscribedGetsNothing
  case liveIsNotRetained
  case retainIsAsPublished
  case retainedIsMarked
  case newSubscriptionGetsRetained
  case handlingSendsOnce
  case handlingSendsNothing
  case formatIsForwarded
  case responseTopicIsForwarded
  case correlationIsForwarded
  case userPropertiesAreForwarded
  case userPropertiesKeepOrder
  case contentTypeIsForwarded
  case expiryIsCountedDown
  case orderIsKept
  case everySubscriberGetsIt
  case repeatIsDeliveredOnce
  // Wills.
  case willIsPublished
  case willIsStored
  case willIsRemoved
  case disconnectDropsWill
  case noFlagNoWill
  case returnDropsWill
  case plainWillStaysPlain
  case retainedWillIsRetained
  // What is retained in the end.
  case retainedIsStored
  case qos0ReplacesRetained
  case emptyClearsRetained
  case emptyIsNotStored
  case plainIsNotStored
  case retainedOutlivesSession
  // What an end of 5.0 has to take, and to go on with.
  case clientTakesAliases
  case serverTakesAliases
  case clientDelaysOnlyMessages
  case serverDelaysOnlyMessages
  case quotaZeroIsAnswered
  case anyQoSMayBeAskedFor
  case lowerQoSIsTold
  case filtersAreTakenSingly
  case expiryEndsNoRelease
  case expiryEndsNoCompletion
  case raisedExpiryIsRejected
  case clientClosesOnError
  case clientLeavesForeignSession
  case absentSessionIsThrownAway
  // More of sessions, and of messages on their way through a server.
  case absentSessionIsMade
  case sessionEndsInTime
  case sessionOutlivesConnection
  case sessionIsStored
  case sessionLastsAsConnection
  case identifierTellsSession
  case messagesAreKept
  case topicsAreOrdered
  case unsubscribedIsExact
  case matchingIsRaw
  case markStays
  case tooLargeIsDropped
  case expiredIsDeleted
  case plainHasNoIdentifier
  case subscriptionIsReplaced
  case retainedComesAgain
  case acknowledgedIsOver
  case refusedIsOver
  case completedIsOver
  case willUsersKeepOrder
  case otherNameIsNotServed
  case brokenIsCompleted
  case brokenIsNotPassedOn
  case refusedIsNotPassedOn

  /// The rule's place in the counters of a version: folds come first, rules of faults behind them.
  @inline(__always)
  func index(in version: MQTTVersion) -> RuleIndex {
    RuleIndex(value: MQTTJudge.base(of: version) + rawValue)
  }
}

extension Tally {
  @inline(__always)
  mutating func satisfy(_ rule: MQTTRule, _ hearing: Hearing) {
    satisfy(rule.index(in: hearing.version), hearing)
  }

  @inline(__always)
  mutating func leave(
    _ rule: MQTTRule, _ reason: UndecidedReason, _ hearing: Hearing, at moment: Moment? = nil
  ) {
    leave(rule.index(in: hearing.version), reason, hearing, at: moment)
  }

  mutating func violate(
    _ rule: MQTTRule, _ event: borrowing EventView, _ hearing: Hearing,
    isOfAnyVersion: Bool = false,
    _ text: @autoclosure () -> FindingText
  ) {
    violate(
      rule.index(in: hearing.version), event, hearing, isOfAnyVersion: isOfAnyVersion, text())
  }
}
