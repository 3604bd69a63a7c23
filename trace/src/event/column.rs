//! Fields of events, from those who tell to those who read.
use super::drop_reason::DropReason;
use super::link::{LinkState, LossRule};
use super::packet::Packet;
use super::text::{Name, Text};

/// A field of an event as it is read back.
pub(super) trait Column<'a> {
    /// Its type there.
    type Read;
    /// The field; `None` where it is absent.
    fn column(&'a self) -> Option<Self::Read>;
}

impl<'a> Column<'a> for Name<'_> {
    type Read = Text<'a>;
    fn column(&'a self) -> Option<Text<'a>> {
        Some(Text::from(&**self))
    }
}

impl<'a> Column<'a> for Packet<Name<'_>> {
    type Read = Packet<Text<'a>>;
    fn column(&'a self) -> Option<Packet<Text<'a>>> {
        Some(self.as_read())
    }
}

impl<'a, T: Column<'a>> Column<'a> for Option<T> {
    type Read = T::Read;
    fn column(&'a self) -> Option<T::Read> {
        self.as_ref().and_then(T::column)
    }
}

macro_rules! plain_columns {
    ($($plain:ty),*) => { $(impl Column<'_> for $plain {
        type Read = $plain;
        fn column(&self) -> Option<$plain> {
            Some(*self)
        }
    })* };
}

plain_columns!(u32, u64, f64, bool, DropReason, LinkState, LossRule);
