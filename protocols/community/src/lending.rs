//! Asking for an uplink that somebody offers: the asker says for which proxy, and the lender's owner says yes or no.
//!
//! * [`Ask`] and [`Answer`]: what travels, in datagrams. Both are public matter: no secret is in them, and nothing that
//!   they say is believed until two people have compared its code.
//! * [`Desk`]: the lender's side. [`Asker`]: the other.
mod asker;
mod desk;
mod message;

pub use asker::{Asker, Outcome};
pub use desk::{Asked, Desk, Verdict};
pub use message::{
    ASK_BYTES, Answer, Ask, KEY_BYTES, MAX_NAME_BYTES, MAX_RECEIVERS, Malformed, Receiver, is_valid_name,
};
