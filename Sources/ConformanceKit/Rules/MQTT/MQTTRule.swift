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

  /// The clauses that it judges.
  var clauses: ClauseIDs {
    switch self {
    case .answersKeepIdentifiers: ClauseIDs(v3_1_1: "MQTT-2.3.1-7", v5_0: "MQTT-2.2.1-6")
    case .acknowledgementsKeepIdentifiers:
      ClauseIDs(v3_1_1: "MQTT-2.3.1-6", v5_0: "MQTT-2.2.1-5")
    case .firstIsConnect: ClauseIDs(v3_1_1: "MQTT-3.1.0-1", v5_0: "MQTT-3.1.0-1")
    case .keepAlive: ClauseIDs(v3_1_1: "MQTT-3.1.2-23", v5_0: "MQTT-3.1.2-20")
    case .refusedIdentifierCloses: ClauseIDs(v3_1_1: "MQTT-3.1.3-9", v5_0: "MQTT-3.1.3-8")
    case .connectIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.1.4-4", v5_0: "MQTT-3.1.4-5")
    case .firstIsConnack: ClauseIDs(v3_1_1: "MQTT-3.2.0-1", v5_0: "MQTT-3.2.0-1")
    case .cleanSessionIsNew: ClauseIDs(v3_1_1: "MQTT-3.2.2-1", v5_0: "MQTT-3.2.2-2")
    case .refusalCloses: ClauseIDs(v3_1_1: "MQTT-3.2.2-5", v5_0: "MQTT-3.2.2-7")
    case .topicMatchesFilter: ClauseIDs(v3_1_1: "MQTT-3.3.2-3", v5_0: "MQTT-3.3.2-3")
    case .publishIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.3.4-1", v5_0: "MQTT-3.3.4-1")
    case .subscribeIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.8.4-1", v5_0: "MQTT-3.8.4-1")
    case .subackKeepsIdentifier: ClauseIDs(v3_1_1: "MQTT-3.8.4-2", v5_0: "MQTT-3.8.4-2")
    case .subackHasCodePerFilter: ClauseIDs(v3_1_1: "MQTT-3.8.4-5", v5_0: "MQTT-3.8.4-6")
    case .subackKeepsOrder: ClauseIDs(v3_1_1: "MQTT-3.9.3-1", v5_0: "MQTT-3.9.3-1")
    case .unsubscribeCompletesDelivery: ClauseIDs(v3_1_1: "MQTT-3.10.4-3", v5_0: "MQTT-3.10.4-3")
    case .unsubscribeIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.10.4-4", v5_0: "MQTT-3.10.4-4")
    case .emptyUnsubscribeIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.10.4-5", v5_0: "MQTT-3.10.4-5")
    case .unsubscribeIsAnsweredOnce: ClauseIDs(v3_1_1: "MQTT-3.10.4-6", v5_0: "MQTT-3.10.4-6")
    case .unsubackKeepsOrder: ClauseIDs(v5_0: "MQTT-3.11.3-1")
    case .pingIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.12.4-1", v5_0: "MQTT-3.12.4-1")
    case .closesAfterDisconnect: ClauseIDs(v3_1_1: "MQTT-3.14.4-1", v5_0: "MQTT-3.14.4-2")
    case .nothingAfterDisconnect: ClauseIDs(v3_1_1: "MQTT-3.14.4-2", v5_0: "MQTT-3.14.4-1")
    case .clientAnswersPublish: ClauseIDs(v3_1_1: "MQTT-4.5.0-2", v5_0: "MQTT-4.5.0-2")
    case .pubacksInOrder: ClauseIDs(v3_1_1: "MQTT-4.6.0-2", v5_0: "MQTT-4.6.0-2")
    case .pubrecsInOrder: ClauseIDs(v3_1_1: "MQTT-4.6.0-3", v5_0: "MQTT-4.6.0-3")
    case .pubrelsInOrder: ClauseIDs(v3_1_1: "MQTT-4.6.0-4", v5_0: "MQTT-4.6.0-4")
    case .packetsInBinaryFrames: ClauseIDs(v3_1_1: "MQTT-6.0.0-1", v5_0: "MQTT-6.0.0-1")
    case .receiverCopesWithFrames: ClauseIDs(v3_1_1: "MQTT-6.0.0-2", v5_0: "MQTT-6.0.0-2")
    case .clientOffersMQTT: ClauseIDs(v3_1_1: "MQTT-6.0.0-3", v5_0: "MQTT-6.0.0-3")
    case .serverAnswersMQTT: ClauseIDs(v3_1_1: "MQTT-6.0.0-4", v5_0: "MQTT-6.0.0-4")
    case .wrongFlagsClose: ClauseIDs(v3_1_1: "MQTT-2.2.2-2")
    case .secondConnectCloses: ClauseIDs(v3_1_1: "MQTT-3.1.0-2", v5_0: "MQTT-3.1.0-2")
    case .refusedLevelCloses: ClauseIDs(v3_1_1: "MQTT-3.1.2-2", v5_0: "MQTT-3.1.2-2")
    case .reservedConnectFlagCloses: ClauseIDs(v3_1_1: "MQTT-3.1.2-3", v5_0: "MQTT-3.1.2-3")
    case .keepAliveIsEnforced: ClauseIDs(v3_1_1: "MQTT-3.1.2-24", v5_0: "MQTT-3.1.2-22")
    case .plainIdentifierIsAllowed: ClauseIDs(v3_1_1: "MQTT-3.1.3-5", v5_0: "MQTT-3.1.3-5")
    case .emptyIdentifierIsRefused: ClauseIDs(v3_1_1: "MQTT-3.1.3-8")
    case .connectIsValidated: ClauseIDs(v3_1_1: "MQTT-3.1.4-1", v5_0: "MQTT-3.1.4-1")
    case .refusedIsNotServed: ClauseIDs(v3_1_1: "MQTT-3.1.4-5", v5_0: "MQTT-3.1.4-6")
    case .connackCodeIsDefined: ClauseIDs(v3_1_1: "MQTT-3.2.2-6")
    case .badOptionsClose: ClauseIDs(v3_1_1: "MQTT-3.8.3-4", v5_0: "MQTT-3.8.3-5")
    case .disconnectFlagsClose: ClauseIDs(v3_1_1: "MQTT-3.14.1-1", v5_0: "MQTT-3.14.1-1")
    case .violationCloses: ClauseIDs(v3_1_1: "MQTT-4.8.0-1", v5_0: "MQTT-4.13.1-1")
    case .badTextIsRejected: ClauseIDs(v5_0: "U5-1.5.4-1")
    case .badPairIsRejected: ClauseIDs(v5_0: "U5-1.5.7-1")
    case .wrongFlagsAreRejected: ClauseIDs(v5_0: "U5-2.1.3-1")
    case .clientRejectsLargePacket: ClauseIDs(v5_0: "U5-3.1.2.11.4-2")
    case .clientRejectsReasons: ClauseIDs(v5_0: "U5-3.1.2.11.7-2")
    case .serverRejectsQoS: ClauseIDs(v5_0: "U5-3.2.2.3.4-2")
    case .serverRejectsRetain: ClauseIDs(v5_0: "U5-3.2.2.3.5-2")
    case .serverRejectsLargePacket: ClauseIDs(v5_0: "U5-3.2.2.3.6-2")
    case .serverRejectsWildcard: ClauseIDs(v5_0: "U5-3.2.2.3.11-2")
    case .serverRejectsIdentifier: ClauseIDs(v5_0: "U5-3.2.2.3.12-2")
    case .serverRejectsShared: ClauseIDs(v5_0: "U5-3.2.2.3.13-2")
    case .bothQoSBitsAreRejected: ClauseIDs(v5_0: "U5-3.3.1.2-1")
    case .badAliasIsRejected: ClauseIDs(v5_0: "U5-3.3.4-2")
    case .unknownAliasIsRejected: ClauseIDs(v5_0: "U5-3.3.4-3")
    case .aliasEndsWithConnection: ClauseIDs(v5_0: "MQTT-3.3.2-7")
    case .emptySubscribeIsRejected: ClauseIDs(v5_0: "U5-3.8.3-1")
    case .emptyUnsubscribeIsRejected: ClauseIDs(v5_0: "U5-3.10.3-1")
    case .noSubscriptionIdentifierFromClient: ClauseIDs(v5_0: "MQTT-3.3.4-6")
    case .payloadIsText: ClauseIDs(v5_0: "U5-3.3.2.3.2-1")
    case .willIsText: ClauseIDs(v5_0: "U5-3.1.3.2.3-1")
    case .authenticationDataNeedsMethod: ClauseIDs(v5_0: "U5-3.1.2.11.10-1")
    case .noExpiryFromServer: ClauseIDs(v5_0: "MQTT-3.14.2-2")
    case .authHasMethod: ClauseIDs(v5_0: "U5-3.15.2.2.2-1")
    case .serverBeginsNoAuthentication: ClauseIDs(v5_0: "MQTT-4.12.0-2")
    case .clientEndsNoAuthentication: ClauseIDs(v5_0: "MQTT-4.12.0-3")
    case .serverKeepsPacketSize: ClauseIDs(v5_0: "MQTT-3.1.2-24")
    case .clientKeepsPacketSize: ClauseIDs(v5_0: "MQTT-3.2.2-15")
    case .clientKeepsReceiveMaximum: ClauseIDs(v5_0: "MQTT-3.3.4-7")
    case .serverKeepsReceiveMaximum: ClauseIDs(v5_0: "MQTT-3.3.4-9")
    case .quotaIsNoHigher: ClauseIDs(v5_0: "MQTT-4.9.0-1")
    case .nothingIsSentAtQuotaZero: ClauseIDs(v5_0: "MQTT-4.9.0-2")
    case .serverKeepsAliasMaximum: ClauseIDs(v5_0: "MQTT-3.1.2-26")
    case .serverUsesNoAlias: ClauseIDs(v5_0: "MQTT-3.1.2-27")
    case .serverAliasIsAccepted: ClauseIDs(v5_0: "MQTT-3.3.2-11")
    case .clientKeepsAliasMaximum: ClauseIDs(v5_0: "MQTT-3.2.2-17")
    case .clientUsesNoAlias: ClauseIDs(v5_0: "MQTT-3.2.2-18")
    case .clientAliasIsAccepted: ClauseIDs(v5_0: "MQTT-3.3.2-9")
    case .clientKeepsMaximumQoS: ClauseIDs(v5_0: "MQTT-3.2.2-11")
    case .clientRetainsNothing: ClauseIDs(v5_0: "MQTT-3.2.2-14")
    case .serverTellsNoReasons: ClauseIDs(v5_0: "MQTT-3.1.2-29")
    case .connackComesOnce: ClauseIDs(v5_0: "MQTT-3.2.0-2")
    case .emptyIdentifierIsReplaced: ClauseIDs(v5_0: "MQTT-3.1.3-6")
    case .assignedIdentifierIsTold: ClauseIDs(v5_0: "MQTT-3.1.3-7")
    case .connackAssignsIdentifier: ClauseIDs(v5_0: "MQTT-3.2.2-16")
    case .responseInformationIsAskedFor: ClauseIDs(v5_0: "MQTT-3.1.2-28")
    case .willQoSIsKept: ClauseIDs(v5_0: "MQTT-3.2.2-12")
    case .willIsRetained: ClauseIDs(v5_0: "MQTT-3.2.2-13")
    case .serverBeginsNoMethod: ClauseIDs(v5_0: "MQTT-4.12.0-6")
    case .clientBeginsNoMethod: ClauseIDs(v5_0: "MQTT-4.12.0-7")
    case .methodStays: ClauseIDs(v5_0: "MQTT-4.12.0-5")
    case .authGoesWithConnect: ClauseIDs(v5_0: "U5-3.15-1")
    case .authenticationComesFirst: ClauseIDs(v5_0: "MQTT-3.1.2-30")
    case .refusedAuthenticationCloses: ClauseIDs(v5_0: "MQTT-4.12.0-4")
    case .reauthenticationKeepsMethod: ClauseIDs(v5_0: "MQTT-4.12.1-1")
    case .unknownMethodCloses: ClauseIDs(v5_0: "MQTT-4.12.0-1")
    case .failedReauthenticationCloses: ClauseIDs(v5_0: "MQTT-4.12.1-2")
    case .disconnectComesLater: ClauseIDs(v5_0: "MQTT-3.14.0-1")
    case .serverKeepAliveIsKept: ClauseIDs(v5_0: "MQTT-3.1.2-21")
    case .connackKeepAliveIsKept: ClauseIDs(v5_0: "MQTT-3.2.2-21")
    case .clientKeepAliveIsEnforced: ClauseIDs(v5_0: "MQTT-3.2.2-22")
    case .failureCloses: ClauseIDs(v5_0: "MQTT-4.13.2-1")
    case .failedCheckCloses: ClauseIDs(v5_0: "MQTT-3.1.4-2")
    case .reasonFitsConnack: ClauseIDs(v5_0: "MQTT-3.2.2-19")
    case .usersFitConnack: ClauseIDs(v5_0: "MQTT-3.2.2-20")
    case .reasonFitsPuback: ClauseIDs(v5_0: "MQTT-3.4.2-2")
    case .usersFitPuback: ClauseIDs(v5_0: "MQTT-3.4.2-3")
    case .reasonFitsPubrec: ClauseIDs(v5_0: "MQTT-3.5.2-2")
    case .usersFitPubrec: ClauseIDs(v5_0: "MQTT-3.5.2-3")
    case .reasonFitsPubrel: ClauseIDs(v5_0: "MQTT-3.6.2-2")
    case .usersFitPubrel: ClauseIDs(v5_0: "MQTT-3.6.2-3")
    case .reasonFitsPubcomp: ClauseIDs(v5_0: "MQTT-3.7.2-2")
    case .usersFitPubcomp: ClauseIDs(v5_0: "MQTT-3.7.2-3")
    case .reasonFitsSuback: ClauseIDs(v5_0: "MQTT-3.9.2-1")
    case .usersFitSuback: ClauseIDs(v5_0: "MQTT-3.9.2-2")
    case .reasonFitsUnsuback: ClauseIDs(v5_0: "MQTT-3.11.2-1")
    case .usersFitUnsuback: ClauseIDs(v5_0: "MQTT-3.11.2-2")
    case .reasonFitsDisconnect: ClauseIDs(v5_0: "MQTT-3.14.2-3")
    case .usersFitDisconnect: ClauseIDs(v5_0: "MQTT-3.14.2-4")
    case .reasonFitsAuth: ClauseIDs(v5_0: "MQTT-3.15.2-2")
    case .usersFitAuth: ClauseIDs(v5_0: "MQTT-3.15.2-3")
    // In 5.0 they are clauses of the identifier 0 as well, which a rule of faults has.
    case .clientTakesFreeIdentifier: ClauseIDs(v3_1_1: "MQTT-2.3.1-2")
    case .serverTakesFreeIdentifier: ClauseIDs(v3_1_1: "MQTT-2.3.1-4")
    case .clientRepeatsKeepIdentifier: ClauseIDs(v3_1_1: "MQTT-2.3.1-3")
    case .repeatsHaveDup: ClauseIDs(v3_1_1: "MQTT-3.3.1-1", v5_0: "MQTT-3.3.1-1")
    case .serverDupIsItsOwn: ClauseIDs(v3_1_1: "MQTT-3.3.1-3", v5_0: "MQTT-3.3.1-3")
    case .repeatsComeWithSession: ClauseIDs(v3_1_1: "MQTT-4.4.0-1", v5_0: "MQTT-4.4.0-1")
    case .refusedIsNotRepeated: ClauseIDs(v5_0: "MQTT-4.4.0-2")
    case .qos1TakesFreeIdentifier: ClauseIDs(v3_1_1: "MQTT-4.3.2-1", v5_0: "MQTT-4.3.2-1")
    case .qos1BeginsWithoutDup: ClauseIDs(v5_0: "MQTT-4.3.2-2")
    case .qos1StaysOpen: ClauseIDs(v5_0: "MQTT-4.3.2-3")
    case .qos2TakesFreeIdentifier: ClauseIDs(v3_1_1: "MQTT-4.3.3-1", v5_0: "MQTT-4.3.3-1")
    case .qos2BeginsWithoutDup: ClauseIDs(v5_0: "MQTT-4.3.3-2")
    case .qos2StaysOpen: ClauseIDs(v5_0: "MQTT-4.3.3-3")
    case .pubrelStaysOpen: ClauseIDs(v5_0: "MQTT-4.3.3-5")
    case .nothingAgainBehindPubrel: ClauseIDs(v5_0: "MQTT-4.3.3-6")
    case .qos1IsAnswered: ClauseIDs(v3_1_1: "MQTT-4.3.2-2", v5_0: "MQTT-4.3.2-4")
    case .qos2IsReceived: ClauseIDs(v5_0: "MQTT-4.3.3-8")
    case .pubrecIsReleased: ClauseIDs(v5_0: "MQTT-4.3.3-4")
    case .pubrelIsCompleted: ClauseIDs(v5_0: "MQTT-4.3.3-11")
    case .subackCodesAreDefined: ClauseIDs(v5_0: "MQTT-3.8.4-7")
    case .expiryStaysZero: ClauseIDs(v5_0: "U5-3.14.2.2.2-2")
    case .repeatsKeepOrder: ClauseIDs(v3_1_1: "MQTT-4.6.0-1", v5_0: "MQTT-4.6.0-1")
    case .presentSessionIsTold: ClauseIDs(v3_1_1: "MQTT-3.2.2-2")
    case .absentSessionIsTold: ClauseIDs(v3_1_1: "MQTT-3.2.2-3", v5_0: "MQTT-3.2.2-3")
    case .sessionGoesOn: ClauseIDs(v3_1_1: "MQTT-3.1.2-4", v5_0: "MQTT-3.1.2-5")
    case .cleanStartEndsSession: ClauseIDs(v3_1_1: "MQTT-3.1.2-6", v5_0: "MQTT-3.1.2-4")
    case .cleanStartIsCarriedOut: ClauseIDs(v3_1_1: "MQTT-3.1.4-3", v5_0: "MQTT-3.1.4-4")
    case .olderConnectionEnds: ClauseIDs(v3_1_1: "MQTT-3.1.4-2", v5_0: "MQTT-3.1.4-3")
    case .wildcardsSpareDollarTopics: ClauseIDs(v3_1_1: "MQTT-4.7.2-1", v5_0: "MQTT-4.7.2-1")
    case .grantedQoSIsKept: ClauseIDs(v3_1_1: "MQTT-3.8.4-6", v5_0: "MQTT-3.8.4-8")
    case .sharedQoSIsKept: ClauseIDs(v5_0: "MQTT-4.8.2-3")
    case .overlapsGetHighestQoS: ClauseIDs(v3_1_1: "MQTT-3.3.5-1", v5_0: "MQTT-3.3.4-2")
    case .numbersAreOfSubscriptions: ClauseIDs(v5_0: "U5-3.3.4-1")
    case .overlapsAreNumbered: ClauseIDs(v5_0: "MQTT-3.3.4-3")
    case .mergedCopyHasAllNumbers: ClauseIDs(v5_0: "MQTT-3.3.4-4")
    case .copiesHaveOwnNumbers: ClauseIDs(v5_0: "MQTT-3.3.4-5")
    case .noLocalIsKept: ClauseIDs(v5_0: "MQTT-3.8.3-3")
    case .unsubscribedGetsNothing: ClauseIDs(v3_1_1: "MQTT-3.10.4-2", v5_0: "MQTT-3.10.4-2")
    case .liveIsNotRetained: ClauseIDs(v3_1_1: "MQTT-3.3.1-9", v5_0: "MQTT-3.3.1-12")
    case .retainIsAsPublished: ClauseIDs(v5_0: "MQTT-3.3.1-13")
    case .retainedIsMarked: ClauseIDs(v3_1_1: "MQTT-3.3.1-8", v5_0: "U5-3.8.3.1-4")
    case .newSubscriptionGetsRetained: ClauseIDs(v3_1_1: "MQTT-3.3.1-6", v5_0: "MQTT-3.3.1-9")
    case .handlingSendsOnce: ClauseIDs(v5_0: "MQTT-3.3.1-10")
    case .handlingSendsNothing: ClauseIDs(v5_0: "MQTT-3.3.1-11")
    case .formatIsForwarded: ClauseIDs(v5_0: "MQTT-3.3.2-4")
    case .responseTopicIsForwarded: ClauseIDs(v5_0: "MQTT-3.3.2-15")
    case .correlationIsForwarded: ClauseIDs(v5_0: "MQTT-3.3.2-16")
    case .userPropertiesAreForwarded: ClauseIDs(v5_0: "MQTT-3.3.2-17")
    case .userPropertiesKeepOrder: ClauseIDs(v5_0: "MQTT-3.3.2-18")
    case .contentTypeIsForwarded: ClauseIDs(v5_0: "MQTT-3.3.2-20")
    case .expiryIsCountedDown: ClauseIDs(v5_0: "MQTT-3.3.2-6")
    case .orderIsKept: ClauseIDs(v3_1_1: "MQTT-4.6.0-6", v5_0: "MQTT-4.6.0-5")
    case .everySubscriberGetsIt: ClauseIDs(v3_1_1: "MQTT-4.5.0-1", v5_0: "MQTT-4.5.0-1")
    case .repeatIsDeliveredOnce: ClauseIDs(v3_1_1: "MQTT-4.3.3-2", v5_0: "MQTT-4.3.3-10")
    case .willIsPublished: ClauseIDs(v3_1_1: "MQTT-3.1.2-8", v5_0: "MQTT-3.1.2-8")
    case .willIsStored: ClauseIDs(v5_0: "MQTT-3.1.2-7")
    case .willIsRemoved: ClauseIDs(v3_1_1: "MQTT-3.1.2-10", v5_0: "MQTT-3.1.2-10")
    case .disconnectDropsWill: ClauseIDs(v3_1_1: "MQTT-3.14.4-3", v5_0: "MQTT-3.14.4-3")
    case .noFlagNoWill: ClauseIDs(v3_1_1: "MQTT-3.1.2-12")
    case .returnDropsWill: ClauseIDs(v5_0: "MQTT-3.1.3-9")
    case .plainWillStaysPlain: ClauseIDs(v3_1_1: "MQTT-3.1.2-16", v5_0: "MQTT-3.1.2-14")
    case .retainedWillIsRetained: ClauseIDs(v3_1_1: "MQTT-3.1.2-17", v5_0: "MQTT-3.1.2-15")
    case .retainedIsStored: ClauseIDs(v3_1_1: "MQTT-3.3.1-5", v5_0: "MQTT-3.3.1-5")
    case .qos0ReplacesRetained: ClauseIDs(v3_1_1: "MQTT-3.3.1-7")
    case .emptyClearsRetained: ClauseIDs(v3_1_1: "MQTT-3.3.1-10", v5_0: "MQTT-3.3.1-6")
    case .emptyIsNotStored: ClauseIDs(v3_1_1: "MQTT-3.3.1-11", v5_0: "MQTT-3.3.1-7")
    case .plainIsNotStored: ClauseIDs(v3_1_1: "MQTT-3.3.1-12", v5_0: "MQTT-3.3.1-8")
    case .retainedOutlivesSession: ClauseIDs(v3_1_1: "MQTT-3.1.2-7")
    case .clientTakesAliases: ClauseIDs(v5_0: "MQTT-3.3.2-10")
    case .serverTakesAliases: ClauseIDs(v5_0: "MQTT-3.3.2-12")
    case .clientDelaysOnlyMessages: ClauseIDs(v5_0: "MQTT-3.3.4-8")
    case .serverDelaysOnlyMessages: ClauseIDs(v5_0: "MQTT-3.3.4-10")
    case .quotaZeroIsAnswered: ClauseIDs(v5_0: "MQTT-4.9.0-3")
    case .anyQoSMayBeAskedFor: ClauseIDs(v5_0: "MQTT-3.2.2-10")
    case .lowerQoSIsTold: ClauseIDs(v5_0: "MQTT-3.2.2-9")
    case .filtersAreTakenSingly: ClauseIDs(v3_1_1: "MQTT-3.8.4-4", v5_0: "MQTT-3.8.4-5")
    case .expiryEndsNoRelease: ClauseIDs(v5_0: "MQTT-4.3.3-7")
    case .expiryEndsNoCompletion: ClauseIDs(v5_0: "MQTT-4.3.3-13")
    case .raisedExpiryIsRejected: ClauseIDs(v5_0: "U5-3.14.2.2.2-3")
    case .clientClosesOnError: ClauseIDs(v5_0: "U5-4.13.1-1")
    case .clientLeavesForeignSession: ClauseIDs(v5_0: "MQTT-3.2.2-4")
    case .absentSessionIsMade: ClauseIDs(v5_0: "MQTT-3.1.2-6")
    case .sessionEndsInTime: ClauseIDs(v5_0: "MQTT-4.1.0-2")
    case .sessionOutlivesConnection: ClauseIDs(v5_0: "MQTT-3.1.2-23")
    case .sessionIsStored: ClauseIDs(v3_1_1: "MQTT-4.1.0-1")
    case .sessionLastsAsConnection: ClauseIDs(v3_1_1: "MQTT-4.1.0-2", v5_0: "MQTT-4.1.0-1")
    case .identifierTellsSession: ClauseIDs(v3_1_1: "MQTT-3.1.3-2", v5_0: "MQTT-3.1.3-2")
    case .messagesAreKept: ClauseIDs(v3_1_1: "MQTT-3.1.2-5")
    case .topicsAreOrdered: ClauseIDs(v3_1_1: "MQTT-4.6.0-5", v5_0: "MQTT-4.6.0-6")
    case .unsubscribedIsExact: ClauseIDs(v3_1_1: "MQTT-3.10.4-1", v5_0: "MQTT-3.10.4-1")
    case .matchingIsRaw: ClauseIDs(v3_1_1: "MQTT-4.7.3-4", v5_0: "MQTT-4.7.3-4")
    case .markStays: ClauseIDs(v3_1_1: "MQTT-1.5.3-3", v5_0: "MQTT-1.5.4-3")
    case .tooLargeIsDropped: ClauseIDs(v5_0: "MQTT-3.1.2-25")
    case .expiredIsDeleted: ClauseIDs(v5_0: "MQTT-3.3.2-5")
    case .plainHasNoIdentifier: ClauseIDs(v3_1_1: "MQTT-2.3.1-5", v5_0: "MQTT-2.2.1-2")
    case .subscriptionIsReplaced: ClauseIDs(v3_1_1: "MQTT-3.8.4-3", v5_0: "MQTT-3.8.4-3")
    case .retainedComesAgain: ClauseIDs(v5_0: "MQTT-3.8.4-4")
    case .acknowledgedIsOver: ClauseIDs(v5_0: "MQTT-4.3.2-5")
    case .refusedIsOver: ClauseIDs(v5_0: "MQTT-4.3.3-9")
    case .completedIsOver: ClauseIDs(v5_0: "MQTT-4.3.3-12")
    case .willUsersKeepOrder: ClauseIDs(v5_0: "MQTT-3.1.3-10")
    case .otherNameIsNotServed: ClauseIDs(v3_1_1: "MQTT-3.1.2-1")
    case .brokenIsCompleted: ClauseIDs(v5_0: "MQTT-4.8.2-4")
    case .brokenIsNotPassedOn: ClauseIDs(v5_0: "MQTT-4.8.2-5")
    case .refusedIsNotPassedOn: ClauseIDs(v5_0: "MQTT-4.8.2-6")
    }
  }

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
