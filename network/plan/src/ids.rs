//! Names of a plan's parts in the program: positions in its lists, one type for each kind.
use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// The one at this position of its list.
            pub const fn new(position: usize) -> Self {
                Self(position as u32)
            }

            /// Its position in its list.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        // A bare number: settings that refer to parts are printed into the canonical text of a plan.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// A node of a plan.
    NodeId
}
id! {
    /// A link of a plan, both directions.
    LinkId
}
id! {
    /// A flow of a plan.
    FlowId
}
id! {
    /// A medium that several nodes of a plan share.
    MediumId
}
