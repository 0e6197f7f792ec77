"""Checks of the lessons' exercises.

Each looks at what the learner made, says what is right, and explains the first thing
that is not: what was expected, what was found, and where to look.  A check never
raises, so that a lesson can be run from top to bottom before its exercise is solved.
"""

from .clusters import check_device_setter as check_device_setter
from .eager import check_fit_line as check_fit_line
from .eager import check_one_trace as check_one_trace
from .estimators import check_stopping_hook as check_stopping_hook
from .execution import check_average as check_average
from .execution import check_distances as check_distances
from .execution import check_safe_length as check_safe_length
from .execution import check_towers as check_towers
from .files import check_saver as check_saver
from .graphs import check_avoid_lazy_loading as check_avoid_lazy_loading
from .graphs import check_build_and_run as check_build_and_run
from .graphs import check_fetch_feed_and_prune as check_fetch_feed_and_prune
from .graphs import check_running_mean as check_running_mean
from .graphs import check_sharing as check_sharing
from .pipelines import check_epochs_of as check_epochs_of
from .pipelines import check_mean_of_column as check_mean_of_column
from .serving import check_served_model as check_served_model
from .training import check_control_dependencies as check_control_dependencies
from .training import check_convnet as check_convnet
from .training import check_embeddings as check_embeddings
from .training import check_gradients_and_optimizers as check_gradients_and_optimizers
from .training import check_while_loop as check_while_loop
