//! How a member behaves, what its plan is told, and what it tells.
use crate::contents::announcement::MAX_CLAIMS;
use crate::contents::piece_set::PieceSet;
use prismux_units::Duration;

/// A neighbour, by the caller's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NeighbourId(pub u32);

/// Where a piece comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The server in the Internet, over the member's own uplink.
    Origin,
    /// Another member.
    Neighbour(NeighbourId),
}

/// How a member behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanConfig {
    /// Pieces under way from the origin at a time, at most.
    pub from_origin: usize,
    /// Neighbours have so long to say what they take, before more than one piece is under way from the origin.
    pub listen: Duration,
    /// Pieces under way from one neighbour at a time.
    pub from_neighbour: usize,
    /// Pieces under way from all neighbours at a time.
    pub from_neighbours: usize,
    /// A piece that a neighbour owes for this long is asked elsewhere.
    pub patience: Duration,
    /// A claim counts for this long.
    pub claim_patience: Duration,
    /// A neighbour that has not been heard for this long is gone.
    pub silence: Duration,
    /// After a failure the source rests for this long, after two for twice as long, and so on.
    pub rest: Duration,
}

impl PlanConfig {
    /// For pieces of `piece_bytes`: neighbours have five seconds for each, and as long as it takes at 4 Mbit/s.
    pub fn for_pieces_of(piece_bytes: u64) -> Self {
        Self {
            from_origin: MAX_CLAIMS,
            listen: Duration::from_millis(100),
            from_neighbour: 2,
            from_neighbours: 8,
            patience: Duration::from_secs(5) + Duration::from_micros(2 * piece_bytes),
            claim_patience: Duration::from_secs(20) + Duration::from_micros(24 * piece_bytes),
            silence: Duration::from_secs(3),
            rest: Duration::from_secs(1),
        }
    }
}

/// What a plan is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanInput<'a> {
    /// A neighbour says what it has and what it takes from the origin.
    Heard {
        /// Who.
        from: NeighbourId,
        /// What it has.
        held: &'a PieceSet,
        /// What it takes from the origin.
        claims: &'a [u32],
    },
    /// A piece has come as a whole.
    Arrived {
        /// From whom.
        from: Source,
        /// Which.
        piece: u32,
        /// Whether it has the right hash.
        is_right: bool,
    },
    /// A source will not give a piece that it was asked for.
    Failed {
        /// Who.
        from: Source,
        /// Which.
        piece: u32,
    },
    /// A piece is here from an earlier attempt.
    AlreadyHere(u32),
}

/// What is to be done, and what has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanEvent {
    /// Ask for a piece.
    Ask {
        /// Whom.
        from: Source,
        /// Which.
        piece: u32,
    },
    /// A piece that was asked for is not wanted from there any more.
    Withdraw {
        /// From whom.
        from: Source,
        /// Which.
        piece: u32,
    },
    /// A neighbour is used no more.
    Left(NeighbourId, Reason),
    /// Every piece is here.
    Complete,
}

/// Why a neighbour is used no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It gave a piece with the wrong hash: for good.
    Lied,
    /// It owed pieces again and again: for good.
    Owing,
    /// It has not been heard for a while: until it is.
    Silent,
}

/// What a plan has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanCounters {
    /// Pieces taken from the origin.
    pub from_origin: u64,
    /// Pieces taken from neighbours.
    pub from_neighbours: u64,
    /// Pieces with the wrong hash.
    pub wrong: u64,
    /// Pieces that neighbours owed for too long.
    pub overdue: u64,
    /// Pieces that a source would not give.
    pub failed: u64,
    /// Announcements of another number of pieces, or by neighbours that are left for good.
    pub ignored: u64,
    /// What came unasked or twice.
    pub unasked: u64,
}
