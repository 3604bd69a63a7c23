//! Packet scripts: text files that play a protocol packet by packet.
//!
//! A script is what the far ends and the application do, and what must leave the machine under test:
//!
//! ```text
//! # comment
//! config NAME key=value ...          how the machine is made; first line, may be left out
//! at 10 ms  < PACKET                 a packet comes from a far end
//! at 10 ms  > PACKET                 a packet must leave, at this time (to the millisecond)
//! after 40 ms > PACKET               relative to the step before
//!           nothing                  nothing leaves now
//!           write 1000               a step of the machine's own vocabulary
//! ```
//!
//! What is common to all machines is here: lines and their times ([`Script`]), words ([`Words`]), expected packets
//! against sent ones ([`Packet`]), the passing of time ([`play`]), folders of scripts ([`scripts!`]). A machine adds
//! its vocabulary by implementing [`Subject`].
mod events;
mod folder;
mod packet;
mod play;
mod script;
mod words;

pub use events::Events;
pub use folder::{folders, play_folder};
pub use packet::Packet;
pub use play::{Subject, play, same};
pub use script::{Script, Step, When};
pub use words::{Words, duration, number};
