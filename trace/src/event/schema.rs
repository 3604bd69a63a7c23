//! How the vocabulary becomes types: for those who tell, and for those who read.

/// The Rust type of a kind of field; names are `$name`.
macro_rules! value {
    ($name:ty; name) => { $name };
    ($name:ty; packet) => { Packet<$name> };
    ($name:ty; optional $kind:ident) => { Option<value!($name; $kind)> };
    ($name:ty; $kind:ident) => { $kind };
}

/// Makes the events for those who tell ([`Event`]), their names ([`EventKind`]), and all fields side by side for
/// those who read ([`Line`]), where serde need not look ahead for the kind of the event.
///
/// `columns` lists every field once. An event whose field is no column, or of another kind than the column, does not
/// compile.
macro_rules! vocabulary {
    (
        columns { $($(#[$column_doc:meta])* $column:ident: $column_kind:ident,)* }
        events { $(
            $(#[$doc:meta])*
            $event:ident = $name:literal $({ $($(#[$field_meta:meta])* $field:ident: $($kind:ident)+,)* })?
        )* }
    ) => {
        /// Something that happened.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "event")]
        pub enum Event<'a> {
            /// A run began. First in every record of a run.
            #[serde(rename = "run_started")]
            RunStarted(Box<RunDescription<'a>>),
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $event $({ $($(#[$field_meta])* $field: value!(Name<'a>; $($kind)+),)* })?,
            )*
        }

        /// Which event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
        pub enum EventKind {
            /// A run began.
            #[serde(rename = "run_started")]
            RunStarted,
            $($(#[$doc])* #[serde(rename = $name)] $event,)*
            /// An event that this version does not know.
            #[serde(other)]
            Unknown,
        }

        impl EventKind {
            /// Every kind of event that there is.
            pub const ALL: &[Self] = &[Self::RunStarted, $(Self::$event,)*];

            /// The name in event logs.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::RunStarted => "run_started",
                    $(Self::$event => $name,)*
                    Self::Unknown => "unknown",
                }
            }
        }

        impl Event<'_> {
            /// Which event it is.
            pub const fn kind(&self) -> EventKind {
                match self {
                    Self::RunStarted(_) => EventKind::RunStarted,
                    $(Self::$event $({ $($field: _),* })? => EventKind::$event,)*
                }
            }
        }

        /// An event with the time, as readers see it: the fields of all events side by side, each of them there or
        /// not, names borrowed from the text. A million lines are read in well under a second.
        #[derive(Debug, Clone, PartialEq, Deserialize)]
        pub struct Line<'a> {
            /// Nanoseconds from the start of the run.
            pub time_ns: u64,
            /// Which event.
            pub event: EventKind,
            $($(#[$column_doc])* #[serde(borrow, default)] pub $column: Option<value!(Text<'a>; $column_kind)>,)*
        }

        impl<'a> Line<'a> {
            /// The line of an event that happened at `time_ns`, as it would be read back from a log.
            pub fn of(time_ns: u64, event: &'a Event<'_>) -> Self {
                let line = Self { time_ns, event: event.kind(), $($column: None,)* };
                match event {
                    Event::RunStarted(_) => line,
                    $(Event::$event $({ $($field),* })? => Self { $($($field: $field.column(),)*)? ..line },)*
                }
            }
        }
    };
}

pub(super) use {value, vocabulary};
