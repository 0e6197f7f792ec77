from tests.eagerly import eagerly as eagerly
