/* On the pages around the reading: sends answers that still wait on this device. The label page does so itself. */

import { flush } from "./outbox.js";

flush();
