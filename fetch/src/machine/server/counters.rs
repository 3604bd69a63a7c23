//! What a server has seen and done.
use serde::Serialize;

/// Counters of a server since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counters {
    /// Sessions at present.
    pub clients: u64,
    /// Datagrams that arrived.
    pub datagrams_received: u64,
    /// Their bytes.
    pub bytes_received: u64,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Datagrams that the kernel would not take, for want of room or of a route.
    pub unsent: u64,
    /// Datagrams of no known type.
    pub malformed: u64,
    /// Hellos of another version.
    pub other_versions: u64,
    /// Hellos answered with a cookie, because they had none that counts.
    pub retries: u64,
    /// Hellos that came again and were answered again.
    pub repeated_hellos: u64,
    /// Hellos not made for our key.
    pub forged_hellos: u64,
    /// Hellos dropped because their neighbourhood of addresses had used up its key exchanges.
    pub limited_hellos: u64,
    /// Sessions opened.
    pub opened: u64,
    /// Requests refused: no such object, too many clients, unreadable, malformed.
    pub refused: u64,
    /// Requests that had to wait for a digest.
    pub preparing: u64,
    /// Sealed datagrams for connections that do not exist.
    pub unknown_connections: u64,
    /// Of all sessions.
    #[serde(flatten)]
    pub sessions: SessionCounters,
}

/// Counters of sessions, past and present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SessionCounters {
    /// Datagrams that their client did not seal.
    pub forged: u64,
    /// Datagrams that came before.
    pub replayed: u64,
    /// Authentic messages without meaning.
    pub nonsense: u64,
    /// Times an address was challenged.
    pub challenges: u64,
    /// Times a client was found at another address.
    pub migrations: u64,
    /// Clients that went silent and were forgotten.
    pub vanished: u64,
    /// Clients that have everything.
    pub finished: u64,
    /// Sessions ended because their object changed or could not be read any more.
    pub objects_lost: u64,
    /// Requests taken.
    pub requests: u64,
    /// Payload bytes sent, those sent again included.
    pub data_bytes: u64,
    /// Requests for what lies outside the object; they are answered with its end.
    pub outside_object: u64,
    /// Requests beyond the window, for what is purged, or more than may wait.
    pub refused_requests: u64,
    /// RCP packets without the connection's token, or with flags that make no sense.
    pub bad_packets: u64,
    /// pTCP connections opened.
    pub connections: u64,
    /// Their pipes.
    pub pipes: u64,
    /// pTCP segments for pipes that do not exist (any more), further pipes without the right token included.
    pub refused_segments: u64,
}

impl Counters {
    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            clients: self.clients + other.clients,
            datagrams_received: self.datagrams_received + other.datagrams_received,
            bytes_received: self.bytes_received + other.bytes_received,
            datagrams_sent: self.datagrams_sent + other.datagrams_sent,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            unsent: self.unsent + other.unsent,
            malformed: self.malformed + other.malformed,
            other_versions: self.other_versions + other.other_versions,
            retries: self.retries + other.retries,
            repeated_hellos: self.repeated_hellos + other.repeated_hellos,
            forged_hellos: self.forged_hellos + other.forged_hellos,
            limited_hellos: self.limited_hellos + other.limited_hellos,
            opened: self.opened + other.opened,
            refused: self.refused + other.refused,
            preparing: self.preparing + other.preparing,
            unknown_connections: self.unknown_connections + other.unknown_connections,
            sessions: self.sessions.plus(&other.sessions),
        }
    }
}

impl SessionCounters {
    fn plus(&self, other: &Self) -> Self {
        Self {
            forged: self.forged + other.forged,
            replayed: self.replayed + other.replayed,
            nonsense: self.nonsense + other.nonsense,
            challenges: self.challenges + other.challenges,
            migrations: self.migrations + other.migrations,
            vanished: self.vanished + other.vanished,
            finished: self.finished + other.finished,
            objects_lost: self.objects_lost + other.objects_lost,
            requests: self.requests + other.requests,
            data_bytes: self.data_bytes + other.data_bytes,
            outside_object: self.outside_object + other.outside_object,
            refused_requests: self.refused_requests + other.refused_requests,
            bad_packets: self.bad_packets + other.bad_packets,
            connections: self.connections + other.connections,
            pipes: self.pipes + other.pipes,
            refused_segments: self.refused_segments + other.refused_segments,
        }
    }
}
